"""Decide which of an end user's open rows a worker does next. Pure: no database."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from uuid import UUID

from apps.pipeline.core.enums import WorkKind


@dataclass(frozen=True, slots=True)
class NextWork:
    """One open outbox row; once taken, `attempts` includes the current attempt."""

    id: int
    kind: WorkKind
    subject_id: UUID
    session_id: UUID | None = None
    attempts: int = 0
    is_due: bool = True
    paused: frozenset[str] = frozenset()  # models of the project that were paused when it was taken


def next_work(open_work: Sequence[NextWork], *, runs: int) -> list[NextWork]:
    """Choose the next rows to work on: pipeline runs first, in their order.

    1. A run that waits for its next attempt blocks the runs behind it.
    2. A row that was attempted before is taken alone, so that no other row loses an attempt if it kills the worker.
    3. Up to `runs` new runs of one session are taken together, so that they can share a model call.
    4. Index work has no order; all of it that is due and new is taken together.
    """
    pipeline_runs = [each for each in open_work if each.kind is WorkKind.RUN_PIPELINE]
    due_runs = list(takewhile(lambda each: each.is_due, pipeline_runs))
    due_others = [each for each in open_work if each.kind is not WorkKind.RUN_PIPELINE and each.is_due]
    queue = due_runs or due_others
    if not queue or queue[0].attempts:
        return queue[:1]
    batch = list(takewhile(lambda each: _can_share_batch(each, queue[0]), queue))
    return batch[:runs] if due_runs else batch


def _can_share_batch(each: NextWork, first: NextWork) -> bool:
    return each.kind is first.kind and each.session_id == first.session_id and not each.attempts
