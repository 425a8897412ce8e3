"""What became of each memory that a caller stored directly."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from apps.pipeline.core.draft import Draft, StageSpan
from apps.pipeline.core.enums import Stage, Status
from apps.pipeline.deduplication.matching import NEAR_SHARE


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


def outcomes_of(draft: Draft, *, unsure: float) -> dict[int, StoreOutcome]:
    """Return the outcomes of a settled draft by the indexes of its candidates.

    `unsure` is the cosine from which two memories may be duplicates.
    """
    spans: Mapping[Stage, StageSpan] = {each.stage: each for each in draft.spans}
    compared = spans[Stage.DEDUPE].details["compared"] if Stage.DEDUPE in spans else {}
    near_from = NEAR_SHARE * unsure
    found: dict[int, StoreOutcome] = {}
    for ruling in draft.rulings:
        near = compared.get(str(ruling.candidate.index), {}).get("near", ())
        differing = [UUID(each["memory"]) for each in near if each["guards"] and (each["cosine"] or 0) >= near_from]
        named = (each.id for each in (*ruling.contradicts, *ruling.possible_duplicates))
        settled = {each.id for each in (*ruling.supersedes, ruling.superseded_by) if each is not None}
        left_open = tuple(each for each in dict.fromkeys((*named, *differing)) if each not in settled)
        given = ruling.candidate.given
        if ruling.merge_into is not None:
            result = StoreResult.MERGED
        elif ruling.superseded_by is not None:
            result = StoreResult.SUPERSEDED
        elif ruling.needs_review:
            result = StoreResult.PENDING_REVIEW
        else:
            is_history = given is not None and given.status is Status.SUPERSEDED
            result = StoreResult.SUPERSEDED if is_history else StoreResult.STORED
        found[ruling.candidate.index] = StoreOutcome(
            memory_id=ruling.memory_id,
            result=result,
            supersedes=tuple(each.id for each in ruling.supersedes),
            review_reasons=ruling.review_reasons,
            may_conflict_with=() if ruling.merge_into else left_open,
        )
    for drop in draft.drops:  # repetitions within the request
        if drop.candidate is not None:
            first = found[drop.detail["same_as"]]
            found[drop.candidate.index] = StoreOutcome(first.memory_id, StoreResult.MERGED)
    return found
