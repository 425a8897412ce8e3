"""What became of the turns of a period: each turn has one fate."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from apps.console.selectors.charts import BAR_WIDTH, StackedBar, stacked_bars
from apps.console.selectors.periods import PeriodStep
from apps.pipeline.core.enums import Reason
from apps.traces.funnel_metrics import Measure, Tallies, past_pre_filter, total_of, users_turns


class TurnFate(StrEnum):
    """What became of a turn."""

    NEW = "gave a new memory"
    KNOWN = "nothing new: known, discarded or waiting"
    SILENT = "nothing found"
    DROPPED = "dropped by the pre-filter"
    OTHERS = "of other roles"


@dataclass(frozen=True, slots=True)
class FateCount:
    """How many turns had a fate, and their share of all."""

    fate: TurnFate
    count: int
    share: float
    reason: str  # by which their traces are found, if there is one


@dataclass(frozen=True, slots=True)
class FateStep:
    """The counts of one step of the period, in the order of the fates."""

    begins: datetime
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FateChart:
    """The turns of a period by fate: counts in all, and a stacked bar for each step; `width` is of the view box."""

    counts: tuple[FateCount, ...]
    steps: tuple[FateStep, ...]
    bars: tuple[StackedBar, ...]
    width: int
    highest: int  # turns of the highest bar
    step: PeriodStep


def fate_chart(by_step: Mapping[datetime, Tallies], *, step: PeriodStep) -> FateChart:
    """Return the fates of the turns of consecutive steps."""
    found = {moment: fates_of(tallies) for moment, tallies in by_step.items()}
    total = fates_of(total_of(by_step.values()))
    turns = sum(total.values())
    columns = [[(fate.name.lower(), count) for fate, count in fates.items()] for fates in found.values()]
    return FateChart(
        counts=tuple(
            FateCount(fate, count, count / turns if turns else 0.0, _REASONS.get(fate, ""))
            for fate, count in total.items()
        ),
        steps=tuple(FateStep(moment, tuple(fates.values())) for moment, fates in found.items()),
        bars=tuple(stacked_bars(columns)),
        width=len(columns) * BAR_WIDTH,
        highest=max((sum(fates.values()) for fates in found.values()), default=0),
        step=step,
    )


def fates_of(tallies: Tallies) -> dict[TurnFate, int]:
    """Count turns by fate.

    A turn may be extracted in a later hour than it was accepted in, so the rest of an hour is at least nothing.
    """
    users, past = users_turns(tallies), past_pre_filter(tallies)
    new = tallies.of(Measure.NEW_TURNS)
    silent = tallies.of(Measure.DROPS, reasons=frozenset({Reason.NO_CANDIDATE}))
    counts = {
        TurnFate.NEW: new,
        TurnFate.KNOWN: past - silent - new,
        TurnFate.SILENT: silent,
        TurnFate.DROPPED: users - past,
        TurnFate.OTHERS: tallies.of(Measure.TURNS) - users,
    }
    return {fate: max(int(count), 0) for fate, count in counts.items()}


_REASONS = {TurnFate.SILENT: Reason.NO_CANDIDATE.value, TurnFate.OTHERS: Reason.UNTRUSTED_ROLE.value}
