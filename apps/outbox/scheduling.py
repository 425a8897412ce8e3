"""Which of an end user's owed rows a worker does next: a decision without the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from uuid import UUID

from apps.pipeline.core.enums import WorkKind


@dataclass(frozen=True, slots=True)
class NextWork:
    """One owed row; once taken, `attempts` counts this attempt too."""

    id: int
    kind: WorkKind
    subject_id: UUID
    session_id: UUID | None = None
    attempts: int = 0
    is_due: bool = True
    paused: frozenset[str] = frozenset()  # models of the project that were paused when it was taken


def next_work(owed: Sequence[NextWork], *, runs: int) -> list[NextWork]:
    """Choose what is done next of what is owed, pipeline runs first and in their order.

    1. Behind a run that waits for its next attempt, later runs wait too.
    2. A run that was tried before is taken alone: should it kill its worker, no other row loses an attempt.
    3. Fresh runs of one session come together, so that they can share a model call.
    4. Index work has no order; what is due of it is taken together, what was tried before alone.
    """
    waiting = [each for each in owed if each.kind is WorkKind.RUN_PIPELINE]
    ready = list(takewhile(lambda each: each.is_due, waiting))
    others = [each for each in owed if each.kind is not WorkKind.RUN_PIPELINE and each.is_due]
    queue = ready or others
    if not queue or queue[0].attempts:
        return queue[:1]
    first = queue[0]
    alike = list(takewhile(lambda each: _goes_with(each, first), queue))
    return alike[:runs] if ready else alike


def _goes_with(each: NextWork, first: NextWork) -> bool:
    return each.kind is first.kind and each.session_id == first.session_id and not each.attempts
