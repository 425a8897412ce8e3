"""Store, revise or retract many memories at once, with an outcome for each."""

from collections.abc import Sequence
from typing import Annotated, Any

from django.utils import timezone
from msgspec import Meta
from rest_framework.request import Request

from apps.api.base import ApiView
from apps.api.operations import operation
from apps.api.problems import Code, Problem, invalid, problem_of
from apps.api.schemas import FieldError, Identifier, RequestBody, ResponseBody
from apps.api.validation import read_id, read_value
from apps.common.errors import Conflict
from apps.intake.quotas import check_quotas
from apps.memories.api.bodies import MemoryBody, RevisionBody, new_memory, revision_of, store_request
from apps.memories.api.memories import MemoriesView
from apps.memories.api.selection import RetractionQuery, selected, statuses_of
from apps.memories.models import Memory
from apps.memories.services.retracting import retract_several
from apps.memories.services.revising import BulkOutcome, Revision, revise_several
from apps.memories.services.store import store_batch
from apps.pipeline.core.enums import Scope, Status
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.input_validation import BadInput, checked_name
from apps.pipeline.direct_write.new_memory import NewMemory

MAX_STORED = 1_000
MAX_REVISED = 200
MAX_RETRACTED = 1_000

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


def bulk_response(outcomes: Sequence[BulkOutcome | Problem]) -> BulkResponse:
    """Convert outcomes of the items that were taken, and problems of those that could not be read."""
    return BulkResponse(**_results(outcomes))


def _results(outcomes: Sequence[BulkOutcome | Problem]) -> dict[str, Any]:
    results = bulk_items(outcomes)
    refused = sum(each.code is not None for each in results)
    return {"done": len(results) - refused, "refused": refused, "results": results}


def bulk_items(outcomes: Sequence[BulkOutcome | Problem]) -> list[BulkItemResponse]:
    """Convert outcomes by their places."""
    return [_item(index, each) for index, each in enumerate(outcomes)]


def _item(index: int, outcome: BulkOutcome | Problem) -> BulkItemResponse:
    memory_id, problem = None, outcome if isinstance(outcome, Problem) else None
    if isinstance(outcome, BulkOutcome):
        memory_id = show(Prefix.MEMORY, outcome.memory_id) if outcome.memory_id else None
        problem = problem_of(outcome.error) if outcome.error is not None else None
    document = problem.document() if problem is not None else {}
    return BulkItemResponse(
        index=index,
        memory_id=memory_id,
        code=document.get("code"),
        detail=document.get("detail", ""),
        errors=[FieldError(**each) for each in document.get("errors", ())],
    )


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
        read = [_read_memory(each) for each in body.memories]
        new = [each for each in read if isinstance(each, NewMemory)]
        stored = iter(store_batch(request=store_request(user_id, new, caller=self.caller)))
        return bulk_response([each if isinstance(each, Problem) else next(stored) for each in read])


class BulkMemoriesView(MemoriesView):
    """The memories of the project: listed, stored, and revised or retracted in bulk."""

    scopes = {"DELETE": Scope.ADMIN}  # as much as a rollback or an erasure takes back

    @operation(
        "revise_memories",
        summary="Revise up to 200 memories",
        example={"memories": [{"id": "mem_01a1f8c0283075afaf9f7de008d31f99", "importance": 0.9}]},
    )
    def patch(self, request: Request, body: RevisionsBody) -> BulkResponse:
        """Revise memories as PATCH /v1/memories/{memory_id} does, each whether others are refused or not."""
        read = [self._read_revision(each) for each in body.memories]
        revised = iter(revise_several(revisions=[each for each in read if isinstance(each, Revision)]))
        outcomes: list[BulkOutcome | Problem] = [each if isinstance(each, Problem) else next(revised) for each in read]
        return bulk_response(outcomes)

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
        found = selected(rows, query, end_user_id=user).exclude(status=Status.RETRACTED).order_by("id")
        memory_ids = list(found.values_list("id", flat=True)[: MAX_RETRACTED + 1])
        if len(memory_ids) > MAX_RETRACTED:
            raise invalid(f"fits more than {MAX_RETRACTED:,} memories; select fewer", at="filter")
        if query.confirm not in (None, len(memory_ids)):
            raise Conflict(f"{len(memory_ids)} memories fit by now")
        is_dry_run = query.confirm is None
        outcomes = retract_several(
            project_id=self.caller.project_id,
            memory_ids=[] if is_dry_run else memory_ids,
            api_key_id=self.caller.api_key_id,
            is_trusted=self.caller.may(Scope.TRUST),
        )
        return RetractionResponse(matching=len(memory_ids), is_dry_run=is_dry_run, **_results(outcomes))

    def _read_revision(self, given: dict[str, Any]) -> Revision | Problem:
        fields = dict(given)
        try:
            memory_id = read_id(Prefix.MEMORY, str(fields.pop("id", "")), at="/id")
            return revision_of(read_value(fields, RevisionBody), memory_id=memory_id, caller=self.caller)
        except (Problem, BadInput) as error:
            return _problem(error)


def _read_memory(given: dict[str, Any]) -> NewMemory | Problem:
    try:
        return new_memory(read_value(given, MemoryBody), at="", now=timezone.now())
    except (Problem, BadInput) as error:
        return _problem(error)


def _problem(error: Problem | BadInput) -> Problem:
    return error if isinstance(error, Problem) else invalid(str(error), at=error.at)
