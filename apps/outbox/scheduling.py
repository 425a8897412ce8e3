"""Decide which of an end user's open rows a worker does next. Pure: no database."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile
from uuid import UUID

from apps.pipeline.core.enums import WorkKind

MOST_TURNS = 100  # in a batch: as many as one request may have


@dataclass(frozen=True, slots=True)
class NextWork:
    """One open outbox row; once taken, `attempts` includes the current attempt."""

    id: int
    kind: WorkKind
    subject_id: UUID
    session_id: UUID | None = None
    attempts: int = 0
    is_due: bool = True
    turn_count: int = 1
    paused: frozenset[str] = frozenset()  # models of the project that were paused when it was taken


def next_work(open_work: Sequence[NextWork], *, runs: int) -> list[NextWork]:
    """Choose the next rows to work on: pipeline runs first, in their order.

    1. A run that waits for its next attempt blocks later runs. One that waits for further turns of its session is done
       once a later run is due.
    2. A row that was attempted before is taken alone, so that no other row loses an attempt if it kills the worker.
    3. Up to `runs` new runs of one session are taken together, so that they can share a model call; no more than
       have MOST_TURNS turns together, so that other users don't wait for long.
    4. Index work has no order; all of it that is due and new is taken together.
    """
    pipeline_runs = [each for each in open_work if each.kind is WorkKind.RUN_PIPELINE]
    due_runs = _due_runs(pipeline_runs)
    due_others = [each for each in open_work if each.kind is not WorkKind.RUN_PIPELINE and each.is_due]
    queue = due_runs or due_others
    if not queue or queue[0].attempts:
        return queue[:1]
    alike = (queue[0].kind, queue[0].session_id, 0)
    batch = list(takewhile(lambda each: (each.kind, each.session_id, each.attempts) == alike, queue))
    return _within_turns(batch[:runs]) if due_runs else batch


def _due_runs(runs: Sequence[NextWork]) -> list[NextWork]:
    """Return the runs up to the last due one, unless an earlier one waits for its next attempt."""
    unblocked = list(takewhile(lambda each: each.is_due or not each.attempts, runs))
    last_due = max((place for place, each in enumerate(unblocked) if each.is_due), default=-1)
    return unblocked[: last_due + 1]


def _within_turns(runs: Sequence[NextWork]) -> list[NextWork]:
    """Return the first runs that have MOST_TURNS turns together, at least one."""
    totals = accumulate(each.turn_count for each in runs)
    return [each for each, total in zip(runs, totals, strict=True) if each is runs[0] or total <= MOST_TURNS]
