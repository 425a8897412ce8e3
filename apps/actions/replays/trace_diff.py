"""The difference of a recorded trace and its replay: turns, operations, discarded candidates, effort."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from apps.actions.replays.operation_diff import Operation, OperationChange, operation_changes
from apps.pipeline.core.enums import Outcome


@dataclass(frozen=True, slots=True)
class Effort:
    """What a run took."""

    calls: int = 0
    tokens: int = 0
    cost_usd: Decimal = Decimal(0)
    latency_us: int = 0


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run decided, in the JSON that a trace keeps; `rejected` are the turns that the pre-filter dropped."""

    rejected: Mapping[str, str]  # turn to reason
    outcomes: Sequence[Mapping[str, Any]]
    operations: Sequence[Operation]
    failure: str = ""
    effort: Effort = Effort()


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """A turn that the pre-filter dropped before and keeps now, or the other way round, or for another reason."""

    turn_id: str
    before: str  # reason; empty: kept
    after: str


@dataclass(frozen=True, slots=True)
class DiscardChange:
    """A candidate that was discarded in only one of the two runs."""

    is_new: bool
    turn: str | None
    content: str
    stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class TraceDiff:
    """Everything in which a replay differs from the record."""

    turns: tuple[VerdictChange, ...] = ()
    operations: tuple[OperationChange, ...] = ()
    discards: tuple[DiscardChange, ...] = ()
    failure_before: str = ""
    failure_after: str = ""
    before: Effort = field(default=Effort())
    after: Effort = field(default=Effort())

    @property
    def is_empty(self) -> bool:
        """Return True if the same was decided; what it took does not count."""
        return not (self.turns or self.operations or self.discards or self.failure_before != self.failure_after)


def diff_of(*, recorded: RunResult, replayed: RunResult) -> TraceDiff:
    """Compare what a trace did with what it does now."""
    turns = dict.fromkeys((*recorded.rejected, *replayed.rejected))
    reasons = ((turn, recorded.rejected.get(turn, ""), replayed.rejected.get(turn, "")) for turn in turns)
    return TraceDiff(
        turns=tuple(VerdictChange(*each) for each in reasons if each[1] != each[2]),
        operations=operation_changes(recorded.operations, replayed.operations),
        discards=_discard_changes(recorded.outcomes, replayed.outcomes),
        failure_before=recorded.failure,
        failure_after=replayed.failure,
        before=recorded.effort,
        after=replayed.effort,
    )


def _discard_changes(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]
) -> tuple[DiscardChange, ...]:
    was, now = _discards(before), _discards(after)
    gone = (DiscardChange(False, *each) for each in (was - now).elements())
    new = (DiscardChange(True, *each) for each in (now - was).elements())
    return (*gone, *new)


def _discards(outcomes: Sequence[Mapping[str, Any]]) -> Counter[tuple[str | None, str, str, str]]:
    """Count the discarded candidates; turns without one follow from these and from the pre-filter."""
    return Counter(
        (each["turn"], each["content"], str(each["stage"]), each["reason"])
        for each in outcomes
        if each["outcome"] == Outcome.DISCARDED and each["content"] is not None
    )
