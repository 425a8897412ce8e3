"""Schemas of requests that store, revise or retract many memories."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from uuid import UUID

from msgspec import Meta

from apps.api.problems import Problem, problem_of
from apps.api.schemas import FieldError, Identifier, RequestBody, ResponseBody
from apps.memories.services.revising import BulkOutcome, count_refused
from apps.pipeline.core.identifiers import Prefix, show

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
    results = bulk_items(outcomes)
    refused = sum(each.code is not None for each in results)
    return BulkResponse(done=len(results) - refused, refused=refused, results=results)


def retraction_response(*, matching: int, outcomes: Sequence[BulkOutcome] | None) -> RetractionResponse:
    """Convert the outcomes of a retraction; None for a dry run."""
    made = outcomes or ()
    refused = count_refused(made)
    return RetractionResponse(
        matching=matching,
        is_dry_run=outcomes is None,
        done=len(made) - refused,
        refused=refused,
        results=bulk_items(made),
    )


def bulk_items(outcomes: Sequence[BulkOutcome | Problem]) -> list[BulkItemResponse]:
    """Convert outcomes by their places."""
    return [_item(index, each) for index, each in enumerate(outcomes)]


def _item(index: int, outcome: BulkOutcome | Problem) -> BulkItemResponse:
    if isinstance(outcome, Problem):
        return _refused(index, None, outcome)
    problem = problem_of(outcome.error) if outcome.error is not None else None
    if problem is not None:
        return _refused(index, outcome.memory_id, problem)
    return BulkItemResponse(index=index, memory_id=_shown(outcome.memory_id), code=None, detail="", errors=[])


def _refused(index: int, memory_id: UUID | None, problem: Problem) -> BulkItemResponse:
    document: Mapping[str, Any] = problem.document()
    errors = [FieldError(**each) for each in document.get("errors", ())]
    return BulkItemResponse(
        index=index, memory_id=_shown(memory_id), code=document["code"], detail=document["detail"], errors=errors
    )


def _shown(memory_id: UUID | None) -> str | None:
    return None if memory_id is None else show(Prefix.MEMORY, memory_id)
