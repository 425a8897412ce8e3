"""What became of a memory that a caller stored directly."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from apps.pipeline.core.draft import Draft, Ruling, StageSpan
from apps.pipeline.core.enums import Stage, Status


class StoreResult(StrEnum):
    """What became of a memory."""

    STORED = "stored"
    MERGED = "merged"  # a known memory says the same
    SUPERSEDED = "superseded"  # stored as history, because a later value is known
    PENDING_REVIEW = "pending_review"


@dataclass(frozen=True, slots=True)
class StoreOutcome:
    """The outcome for a memory; `memory_id` is the memory that says it."""

    memory_id: UUID
    result: StoreResult
    supersedes: tuple[UUID, ...] = ()
    review_reasons: tuple[str, ...] = ()
    may_conflict_with: tuple[UUID, ...] = ()  # live memories that contradict it, or are alike and differ in a detail


# Other names and numbers lower a cosine: "on the Team plan", "on the Business plan". A hint closes nothing.
_LEAST_SHARE = 0.75  # of the cosine from which memories may be duplicates


def outcome_of(draft: Draft, *, unsure: float) -> StoreOutcome:
    """Return the outcome of a settled draft with one statement; from a cosine `unsure` on, it may be a duplicate."""
    (ruling,) = draft.rulings
    spans: Mapping[Stage, StageSpan] = {each.stage: each for each in draft.spans}
    compared = spans[Stage.DEDUPE].details["compared"] if Stage.DEDUPE in spans else {}
    near = compared.get(str(ruling.candidate.index), {}).get("near", ())
    alike_from = _LEAST_SHARE * unsure
    differing = [UUID(each["memory"]) for each in near if each["guards"] and (each["cosine"] or 0) >= alike_from]
    return StoreOutcome(
        memory_id=ruling.memory_id,
        result=_result(ruling),
        supersedes=tuple(each.id for each in ruling.supersedes),
        review_reasons=ruling.review_reasons,
        may_conflict_with=() if ruling.merge_into else _left_open(ruling, differing),
    )


def _left_open(ruling: Ruling, differing: Iterable[UUID]) -> tuple[UUID, ...]:
    named = (each.id for each in (*ruling.contradicts, *ruling.possible_duplicates))
    settled = {each.id for each in (*ruling.supersedes, ruling.superseded_by) if each is not None}
    return tuple(each for each in dict.fromkeys((*named, *differing)) if each not in settled)


def _result(ruling: Ruling) -> StoreResult:
    if ruling.merge_into is not None:
        return StoreResult.MERGED
    if ruling.superseded_by is not None:
        return StoreResult.SUPERSEDED
    if ruling.needs_review:
        return StoreResult.PENDING_REVIEW
    given = ruling.candidate.given
    return StoreResult.SUPERSEDED if given and given.status is Status.SUPERSEDED else StoreResult.STORED
