"""POST /v1/memories/search and POST /v1/context."""

from django.http import HttpResponse
from rest_framework.request import Request

from apps.actions.memories.build_context import ContextRequest, build_context
from apps.actions.memories.search_memories import SearchRequest, search_memories
from apps.api.openapi import documented
from apps.api.reading import read_body
from apps.api.schemas.search import (
    ContextBlock,
    ContextBody,
    SearchAnswer,
    SearchBody,
    context_block,
    context_query,
    found_memory,
    search_query,
)
from apps.api.views.base import ApiView, kept, response
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.input_validation import checked_name


class SearchView(ApiView):
    """Memories out."""

    scopes = {"POST": Scope.READ}

    @documented(
        operation="search_memories",
        summary="Search memories",
        body=SearchBody,
        answers={200: SearchAnswer},
        example={"user_id": "ana", "query": "Where does Ana live?", "limit": 5},
        repeatable=True,
    )
    def post(self, request: Request) -> HttpResponse:
        """Search the memories of one end user by words and by meaning, best first."""
        body = read_body(request, SearchBody)
        asked = SearchRequest(
            project_id=self.caller.project_id,
            user_id=checked_name(body.user_id, at="/user_id"),
            query=search_query(body),
        )
        return response(self.once(lambda: kept(_found(asked, explain=body.explain))))


def _found(asked: SearchRequest, *, explain: bool) -> SearchAnswer:
    hits = search_memories(request=asked).hits
    return SearchAnswer(memories=[found_memory(hit, explain=explain) for hit in hits])


class ContextView(ApiView):
    """What an agent is told of an end user."""

    scopes = {"POST": Scope.READ}

    @documented(
        operation="build_context",
        summary="Build a context block",
        body=ContextBody,
        answers={200: ContextBlock},
        example={"user_id": "ana", "query": "What should we cook?", "token_budget": 800},
        repeatable=True,
    )
    def post(self, request: Request) -> HttpResponse:
        """Render what is known of an end user for an agent's prompt, marked so that it is not remembered again."""
        body = read_body(request, ContextBody)
        asked = ContextRequest(
            project_id=self.caller.project_id,
            user_id=checked_name(body.user_id, at="/user_id"),
            query=context_query(body),
        )
        return response(self.once(lambda: kept(context_block(build_context(request=asked)))))
