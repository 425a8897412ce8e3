"""Views of POST /v1/memories/search and POST /v1/context."""

from django.http import HttpResponse
from rest_framework.request import Request

from apps.actions.memories.build_context import ContextRequest, build_context
from apps.actions.memories.search_memories import SearchRequest, search_memories
from apps.api.openapi import documented
from apps.api.schemas.search import (
    ContextBody,
    ContextResponse,
    SearchBody,
    SearchResponse,
    checked_fields,
    context_query,
    context_response,
    search_query,
    search_response,
)
from apps.api.validation import read_body
from apps.api.views.base import ApiView, ReplayableAnswer, http_response, replayable_answer
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.input_validation import checked_name


class SearchView(ApiView):
    """Search of memories."""

    scopes = {"POST": Scope.READ}

    @documented(
        operation="search_memories",
        summary="Search memories",
        body=SearchBody,
        responses={200: SearchResponse},
        example={"user_id": "ana", "query": "Where does Ana live?", "limit": 5},
        repeatable=True,
    )
    def post(self, request: Request) -> HttpResponse:
        """Search the memories of one end user by keywords and by meaning, best first."""
        body = read_body(request, SearchBody)
        fields = checked_fields(body)
        search_request = SearchRequest(
            project_id=self.caller.project_id,
            user_id=checked_name(body.user_id, at="/user_id"),
            query=search_query(body),
            with_closest=body.explain,
        )

        def run() -> ReplayableAnswer:
            found = search_memories(request=search_request)
            return replayable_answer(search_response(found, fields=fields, explain=body.explain))

        return http_response(self.idempotent(run))


class ContextView(ApiView):
    """The context block about an end user for an agent's prompt."""

    scopes = {"POST": Scope.READ}

    @documented(
        operation="build_context",
        summary="Build a context block",
        body=ContextBody,
        responses={200: ContextResponse},
        example={"user_id": "ana", "query": "What should we cook?", "token_budget": 800},
        repeatable=True,
    )
    def post(self, request: Request) -> HttpResponse:
        """Build a text block about an end user for an agent's prompt, marked so that it is never extracted again."""
        body = read_body(request, ContextBody)
        context_request = ContextRequest(
            project_id=self.caller.project_id,
            user_id=checked_name(body.user_id, at="/user_id"),
            query=context_query(body),
        )
        return http_response(
            self.idempotent(lambda: replayable_answer(context_response(build_context(request=context_request))))
        )
