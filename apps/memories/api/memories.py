"""Views of /v1/memories: list, store, read, revise and retract, one or many."""

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Annotated, Any, TypeVar

from django.db.models import Q
from django.utils import timezone
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.base import ApiView, to_json
from apps.api.operations import operation
from apps.api.pagination import Pages
from apps.api.problems import Code, Problem, invalid, problem_of
from apps.api.schemas import FieldError, Identifier, RequestBody, ResponseBody
from apps.api.validation import not_found, read_id, read_value
from apps.common.errors import Conflict
from apps.intake.quotas import check_quotas
from apps.memories.api.requests import (
    MemoriesBody,
    MemoriesQuery,
    MemoryBody,
    RetractionQuery,
    RevisionBody,
    adjustments,
    new_memories,
    new_memory,
    revision_of,
    selected,
    statuses_of,
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
from apps.memories.models import Memory, MemoryLink, MemoryOrigin, MemoryVersion
from apps.memories.querysets import MemoryQuerySet
from apps.memories.reading.past import as_believed
from apps.memories.services.revising import BulkOutcome, Revision, outcome_of, retract, retract_several, revise
from apps.memories.services.store import store_batch, store_with_outcomes
from apps.pipeline.core.enums import Scope, Status
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.input_validation import BadInput, checked_moment, checked_name
from apps.pipeline.direct_write.new_memory import NewMemory

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


MAX_STORED = 1_000
MAX_REVISED = 200
MAX_RETRACTED = 1_000
Taken = TypeVar("Taken")

Item = Annotated[dict[str, Any], Meta(min_length=1)]


class BatchBody(RequestBody):
    """Memories of one end user to store, each as in POST /v1/memories."""

    user_id: Identifier
    memories: Annotated[tuple[Item, ...], Meta(min_length=1, max_length=MAX_STORED)]


class RevisionsBody(RequestBody):
    """Memories to revise: each with its `id` and new values as in PATCH /v1/memories/{memory_id}."""

    memories: Annotated[tuple[Item, ...], Meta(min_length=1, max_length=MAX_REVISED)]


class BulkItemResponse(ResponseBody):
    """What became of one item: the memory, or the code and the errors because of which nothing was done for it.

    Pointers lead into the item.
    """

    index: int
    memory_id: str | None
    code: str | None
    detail: str
    errors: list[FieldError]


class BulkResponse(ResponseBody):
    """What became of each item, in the order of the request."""

    done: int
    refused: int
    results: list[BulkItemResponse]


class RetractionResponse(ResponseBody):
    """How many memories fit; what became of each once the number is confirmed."""

    matching: int
    is_dry_run: bool
    done: int
    refused: int
    results: list[BulkItemResponse]


def bulk_items(outcomes: Sequence[BulkOutcome]) -> list[BulkItemResponse]:
    """Convert outcomes by their places."""
    return [_item(index, each) for index, each in enumerate(outcomes)]


def _item(index: int, outcome: BulkOutcome) -> BulkItemResponse:
    problem = problem_of(outcome.error) if outcome.error is not None else None
    document = problem.document() if problem is not None else {}
    return BulkItemResponse(
        index=index,
        memory_id=show(Prefix.MEMORY, outcome.memory_id) if outcome.memory_id else None,
        code=document.get("code"),
        detail=document.get("detail", ""),
        errors=[FieldError(**each) for each in document.get("errors", ())],
    )


def _results(outcomes: Sequence[BulkOutcome]) -> dict[str, Any]:
    results = bulk_items(outcomes)
    refused = sum(each.code is not None for each in results)
    return {"done": len(results) - refused, "refused": refused, "results": results}


def _read(items: Sequence[dict[str, Any]], read: Callable[[dict[str, Any]], Taken]) -> list[Taken | BulkOutcome]:
    """Read the items of a request; one that can't be read becomes the outcome that says why."""
    taken: list[Taken | BulkOutcome] = []
    for each in items:
        try:
            taken.append(read(each))
        except Problem as problem:
            taken.append(BulkOutcome(None, problem))
        except BadInput as error:
            taken.append(BulkOutcome(None, invalid(str(error), at=error.at)))
    return taken


class MemoriesView(ApiView):
    """The memories of the project: listed, stored, and revised or retracted in bulk."""

    scopes = {"DELETE": Scope.ADMIN}  # as much as a rollback or an erasure takes back

    @operation("list_memories", summary="List memories")
    def get(self, request: Request, query: MemoriesQuery) -> MemoryList:
        """List memories, newest first; only active ones unless `status` selects others."""
        user = self.end_user_id(query.user_id)
        rows = selected(Memory.objects.for_project(self.caller.project_id).to_show(), query, end_user_id=user)
        known_at = checked_moment(query.known_at, at="known_at")
        pages = Pages(limit=query.limit)
        found = pages.read(_believed(rows, query, known_at), request)
        if known_at:
            found = as_believed(memories=found, moment=known_at)
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

    @operation(
        "revise_memories",
        summary="Revise up to 200 memories",
        example={"memories": [{"id": "mem_01a1f8c0283075afaf9f7de008d31f99", "importance": 0.9}]},
    )
    def patch(self, request: Request, body: RevisionsBody) -> BulkResponse:
        """Revise memories as PATCH /v1/memories/{memory_id} does, each whether others are refused or not."""
        read = _read(body.memories, self._revision)
        outcomes = [
            outcome_of(each.memory_id, partial(revise, revision=each)) if isinstance(each, Revision) else each
            for each in read
        ]
        return BulkResponse(**_results(outcomes))

    @operation("retract_memories", summary="Retract the memories that fit", problems=[Code.CONFLICT])
    def delete(self, request: Request, query: RetractionQuery) -> RetractionResponse:
        """Retract the memories that a list with the same parameters shows, at most 1,000 of one end user.

        Without `confirm` nothing is changed, and `matching` says how many they are. With this number as `confirm` they
        are retracted; if others fit by then, the answer is 409. Memories whose tags bind agents require the scope
        trust; `results` says which were refused. To delete everything of an end user, use DELETE /v1/users/{user_id}.
        """
        rows = Memory.objects.for_project(self.caller.project_id).filter(
            status__in=statuses_of(query, shown=(Status.ACTIVE,))
        )
        user = self.end_user_id(query.user_id)
        found = selected(rows, query, end_user_id=user).exclude(status=Status.RETRACTED)
        memory_ids = list(found.values_list("id", flat=True)[: MAX_RETRACTED + 1])
        if len(memory_ids) > MAX_RETRACTED:
            raise invalid(f"fits more than {MAX_RETRACTED:,} memories; select fewer", at="filter")
        if query.confirm not in (None, len(memory_ids)):
            raise Conflict(f"{len(memory_ids)} memories fit by now")
        is_dry_run = query.confirm is None
        outcomes = retract_several(
            project_id=self.caller.project_id,
            memories=Memory.objects.for_project(self.caller.project_id).filter(id__in=[] if is_dry_run else memory_ids),
            is_trusted=self.caller.may(Scope.TRUST),
        )
        return RetractionResponse(matching=len(memory_ids), is_dry_run=is_dry_run, **_results(outcomes))

    def _revision(self, given: dict[str, Any]) -> Revision:
        memory_id = read_id(Prefix.MEMORY, str(given.get("id", "")), at="/id")
        values = {name: value for name, value in given.items() if name != "id"}
        return revision_of(read_value(values, RevisionBody), memory_id=memory_id, caller=self.caller)


_BATCH_EXAMPLE = {"user_id": "ana", "memories": [{"type": "fact", "content": "Ana has a boat.", "agent_id": "harbour"}]}


class MemoryBatchView(ApiView):
    """Storing many memories."""

    @operation(
        "store_memory_batch",
        summary="Store up to 1,000 memories",
        problems=[Code.QUOTA_EXCEEDED, Code.CONFLICT],
        example=_BATCH_EXAMPLE,
        repeatable=True,
    )
    def post(self, request: Request, body: BatchBody) -> BulkResponse:
        """Store memories as POST /v1/memories does, each whether others are refused or not.

        `results` names the memory that says each item, a known one too, or why the item was refused. A hundred are
        stored per transaction, in their order.
        """
        user_id = checked_name(body.user_id, at="/user_id")
        check_quotas(project_id=self.caller.project_id)
        now = timezone.now()
        read = _read(body.memories, lambda each: new_memory(read_value(each, MemoryBody), at="", now=now))
        new = [each for each in read if isinstance(each, NewMemory)]
        stored = iter(store_batch(request=store_request(user_id, new, caller=self.caller)))
        return BulkResponse(**_results([each if isinstance(each, BulkOutcome) else next(stored) for each in read]))


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
