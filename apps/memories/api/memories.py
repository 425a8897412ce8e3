"""Views of /v1/memories: list, store, read, revise and retract."""

import re
from datetime import datetime

from django.db.models import Q
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.base import ApiView, to_json
from apps.api.operations import operation
from apps.api.pagination import Pages
from apps.api.problems import Code, invalid
from apps.api.validation import not_found, read_id
from apps.intake.quotas import check_quotas
from apps.memories.api.bodies import (
    MemoriesBody,
    RevisionBody,
    adjustments,
    new_memories,
    revision_of,
    store_request,
)
from apps.memories.api.responses import (
    HistoryResponse,
    MemoryDetailResponse,
    MemoryList,
    MemoryResponse,
    StoredMemoriesResponse,
    history_response,
    memory_detail_response,
    memory_response,
    outcome_response,
)
from apps.memories.api.selection import MemoriesQuery, selected, statuses_of
from apps.memories.models import Memory, MemoryLink, MemoryOrigin, MemoryVersion
from apps.memories.querysets import MemoryQuerySet
from apps.memories.reading.past import as_believed
from apps.memories.services.retracting import retract
from apps.memories.services.revising import revise
from apps.memories.services.store import store_with_outcomes
from apps.pipeline.core.enums import Scope, Status
from apps.pipeline.core.identifiers import Prefix
from apps.pipeline.core.input_validation import checked_moment

_ETAG = re.compile(r'(?:W/)?"?(\d{1,9})"?')
_EXAMPLE = {
    "user_id": "ana",
    "memories": [
        {
            "type": "fact",
            "content": "Ana lives in Lisbon.",
            "subject": "User",
            "predicate": "lives_in",
            "object": {"entity": {"name": "Lisbon", "type": "place"}},
        }
    ],
}


class MemoriesView(ApiView):
    """The memories of the project."""

    @operation("list_memories", summary="List memories")
    def get(self, request: Request, query: MemoriesQuery) -> MemoryList:
        """List memories, newest first; only active ones unless `status` selects others."""
        user = self.end_user_id(query.user_id)
        rows = selected(Memory.objects.for_project(self.caller.project_id).to_show(), query, end_user_id=user)
        known_at = checked_moment(query.known_at, at="known_at")
        pages = Pages(limit=query.limit)
        found = pages.read(_believed(rows, query, known_at), request)
        if known_at:
            found = as_believed(memories=found, end_user_ids={row.end_user_id for row in found}, moment=known_at)
        return MemoryList(results=[memory_response(each) for each in found], **pages.links())

    @operation(
        "store_memories",
        summary="Store memories directly",
        status=201,
        problems=[Code.QUOTA_EXCEEDED],
        example=_EXAMPLE,
        repeatable=True,
    )
    def post(self, request: Request, body: MemoriesBody) -> StoredMemoriesResponse:
        """Store memories as given, without extraction: all of them, or none.

        A memory that is already known in the same words or as the same triple isn't stored again; the response contains
        the known one. Of several values of a stateful predicate the one said last stays active: it supersedes the
        others, or is itself stored as superseded. `outcomes` says what became of each, and which known memories it may
        conflict with.

        Without the scope trust, no memory gets a higher confidence than the project's policy computes, free text is
        inferred, and the extractor is "direct". Tags that bind agents (constraint, convention), orders in any type and
        values that would replace what a user said await review.
        """
        memories = new_memories(body, now=timezone.now())
        wanted = store_request(body.user_id, memories, caller=self.caller)
        check_quotas(project_id=self.caller.project_id)
        stored = store_with_outcomes(request=wanted)
        shown = Memory.objects.for_project(self.caller.project_id).to_show()
        rows = shown.in_bulk([each.memory_id for each in stored])
        return StoredMemoriesResponse(
            results=[memory_response(rows[each.memory_id]) for each in stored],
            outcomes=[outcome_response(each) for each in stored],
            adjusted=adjustments(body, memories),
        )


def _believed(rows: MemoryQuerySet, query: MemoriesQuery, known_at: datetime | None) -> MemoryQuerySet:
    """Filter by status and validity: those of now, or those stored at a moment."""
    as_of = checked_moment(query.as_of, at="as_of")
    shown = (Status.ACTIVE, Status.SUPERSEDED) if as_of else (Status.ACTIVE,)
    statuses = statuses_of(query, shown=shown)
    rows = rows.known_at(known_at).filter(status_then__in=statuses) if known_at else rows.filter(status__in=statuses)
    return rows.true_at(as_of, as_known=known_at is not None) if as_of else rows


class MemoryView(ApiView):
    """One memory."""

    @operation("read_memory", summary="Read a memory", responses={200: MemoryDetailResponse}, problems=[Code.NOT_FOUND])
    def get(self, request: Request, memory_id: str) -> Response:
        """Read a memory with its source turns and its links to other memories."""
        memory = self._memory(memory_id)
        mine = {"end_user_id": memory.end_user_id}
        origins = MemoryOrigin.objects.standing().filter(**mine, memory=memory).select_related("session")
        links = MemoryLink.objects.filter(Q(from_memory=memory) | Q(to_memory=memory), **mine)
        return _with_version(memory, memory_detail_response(memory, origins=origins, links=links))

    @operation(
        "revise_memory",
        summary="Revise a memory",
        responses={200: MemoryResponse},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
        example={"importance": 0.9, "version": 1},
        versioned=True,
    )
    def patch(self, request: Request, memory_id: str, body: RevisionBody) -> Response:
        """Change fields of a memory; the old values stay in the history.

        With `version` or the header If-Match, the memory must still be at that version. A content that another memory
        already has is a conflict. Changing `status` requires the scope admin. Raising `confidence`, changing the tags
        that bind agents, setting an expiry that is past, and changing what a memory says that a user said or a person
        approved require the scope trust.
        """
        memory = self._memory(memory_id)
        revise(revision=revision_of(body, memory_id=memory.id, caller=self.caller, expected_version=_if_match(request)))
        revised = self._memory(memory_id)
        return _with_version(revised, memory_response(revised))

    @operation(
        "retract_memory",
        summary="Retract a memory",
        problems=[Code.NOT_FOUND, Code.CONFLICT, Code.INVALID_REQUEST],
        versioned=True,
    )
    def delete(self, request: Request, memory_id: str) -> None:
        """Retract a memory: it is no longer returned, and its history stays. Repeating it changes nothing.

        A memory whose tags bind agents requires the scope trust.
        """
        retract(
            project_id=self.caller.project_id,
            memory_id=read_id(Prefix.MEMORY, memory_id),
            api_key_id=self.caller.api_key_id,
            expected_version=_if_match(request),
            is_trusted=self.caller.may(Scope.TRUST),
        )

    def _memory(self, memory_id: str) -> Memory:
        wanted = read_id(Prefix.MEMORY, memory_id)
        memory: Memory | None = Memory.objects.for_project(self.caller.project_id).to_show().filter(id=wanted).first()
        if memory is None:
            raise not_found()
        return memory


class HistoryView(MemoryView):
    """The history of one memory."""

    http_method_names = ["get", "head", "options"]

    @operation("read_history", summary="Read a memory's history", problems=[Code.NOT_FOUND])
    def get(self, request: Request, memory_id: str) -> HistoryResponse:
        """Read the past versions of a memory and who changed it."""
        memory = self._memory(memory_id)
        versions = MemoryVersion.objects.filter(end_user_id=memory.end_user_id, memory=memory).order_by("version")
        return history_response(memory, versions=versions)


def _with_version(memory: Memory, answer: MemoryResponse) -> Response:
    return Response(to_json(answer), headers={"ETag": f'"{memory.version}"'})


def _if_match(request: Request) -> int | None:
    """Return the version in the header If-Match; None for any (no header, or *)."""
    text = request.headers.get("If-Match", "*").strip()
    if text == "*":
        return None
    match = _ETAG.fullmatch(text)
    if match is None:
        raise invalid('must be a version such as "3"', at="If-Match")
    return int(match[1])
