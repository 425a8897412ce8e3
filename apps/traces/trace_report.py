"""The outcome of a request, as the caller, the trace and the console show it."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from apps.pipeline.core.draft import Draft, Drop, Ruling
from apps.pipeline.core.enums import Outcome, Reason, Stage
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.placeholders import count_placeholders
from apps.pipeline.core.statement import StoredMemory


@dataclass(frozen=True, slots=True)
class TraceReport:
    """Counts, and one line per candidate or per turn without a candidate; JSON-ready."""

    counts: dict[str, Any]
    outcomes: list[dict[str, Any]]


def report_of(draft: Draft) -> TraceReport:
    """Summarise a draft.

    `stored` counts new memories that agents may see or that are history, `pending_review` new ones that wait for a
    person, `retracted` known ones that the user asked to forget, `discarded` dropped candidates, `rejected` turns by
    reason, `redacted` placeholders in the turns by kind.
    """
    ruled = [*map(_dropped, draft.drops), *map(_ruled, draft.rulings)]
    became = Counter([line["outcome"] for line in ruled])
    # A line for each known memory that was retracted on request, or hidden until a person has decided.
    asked = dict.fromkeys(show(Prefix.TURN, each.turn_id) for each in draft.forget_requests)
    turn = next(iter(asked)) if len(asked) == 1 else None
    forgotten = [_revised(each, Outcome.RETRACTED, turn) for each in draft.left_alone(draft.forgotten)]
    forgotten += [_revised(each, Outcome.PENDING_REVIEW, turn) for each in draft.left_alone(draft.maybe_forgotten)]
    rejected = Counter([drop.reason for drop in draft.drops if drop.stage is Stage.PRE_FILTER])
    counts = {
        "turns": len(draft.request.turns),
        "rejected": dict(sorted(rejected.items())),
        "candidates": len(draft.rulings) + sum(drop.candidate is not None for drop in draft.drops),
        "stored": became[Outcome.STORED],
        "merged": became[Outcome.MERGED],
        "superseded": sum(len(ruling.supersedes) for ruling in draft.rulings),
        "retracted": sum(line["outcome"] == Outcome.RETRACTED for line in forgotten),
        "pending_review": became[Outcome.PENDING_REVIEW],
        "discarded": sum(drop.candidate is not None for drop in draft.drops),
        "redacted": count_placeholders(turn.content for turn in draft.request.turns),
        "memory_ids": list(dict.fromkeys(show(Prefix.MEMORY, ruling.memory_id) for ruling in draft.rulings)),
    }
    return TraceReport(counts=counts, outcomes=[*ruled, *forgotten])


def _dropped(drop: Drop) -> dict[str, Any]:
    turn = drop.turn_id or (drop.candidate.source_turn_ids[0] if drop.candidate else None)
    return {
        "turn": show(Prefix.TURN, turn) if turn else None,
        "candidate": drop.candidate.index if drop.candidate else None,
        "content": drop.candidate.content if drop.candidate else None,
        "outcome": Outcome.FORGET_ALL_REQUESTED if drop.reason == Reason.FORGET_ALL_REQUESTED else Outcome.DISCARDED,
        "stage": drop.stage,
        "reason": str(drop.reason),
        "detail": str(drop.detail.get("why", "")),
        "memory_id": None,
    }


def _ruled(ruling: Ruling) -> dict[str, Any]:
    reasons = (*ruling.review_reasons, *ruling.flags)
    if ruling.merge_into is not None:
        outcome = Outcome.MERGED
    else:
        outcome = Outcome.PENDING_REVIEW if ruling.needs_review else Outcome.STORED
    return {
        "turn": show(Prefix.TURN, ruling.candidate.source_turn_ids[0]),
        "candidate": ruling.candidate.index,
        "content": ruling.candidate.content,
        "outcome": outcome,
        "stage": Stage.PERSIST,
        "reason": ", ".join(reasons) or ruling.rule,
        "detail": "",
        "memory_id": show(Prefix.MEMORY, ruling.memory_id),
    }


def _revised(memory: StoredMemory, outcome: Outcome, turn: str | None) -> dict[str, Any]:
    return {
        "turn": turn,
        "candidate": None,
        "content": memory.content,
        "outcome": outcome,
        "stage": Stage.CONFLICT,
        "reason": Reason.ASKED_TO_FORGET,
        "detail": "",
        "memory_id": show(Prefix.MEMORY, memory.id),
    }
