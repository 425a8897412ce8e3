"""Chart geometry for templates to draw as SVG; without inline styles, which the page's CSP forbids."""

from collections.abc import Sequence
from dataclasses import dataclass

_LEAST = 0.8  # of 100, so that a count of one stays visible
BAR_WIDTH = 10  # of a view box; the chart is stretched to fit
_GAP = 1.5


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """A step of a funnel: how many came so far, and what became of those that come no further."""

    label: str
    count: int
    lost: int = 0
    lost_as: str = ""  # what they are, such as "of other roles"
    reason: str = ""  # by which their traces are found; empty: see the drops by reason
    note: str = ""


@dataclass(frozen=True, slots=True)
class FunnelBar:
    """A step with the width of its bar, in percent."""

    step: FunnelStep
    width: float


@dataclass(frozen=True, slots=True)
class StackSegment:
    """A part of a stacked bar, in a view box that is 100 high."""

    name: str
    top: float
    height: float


@dataclass(frozen=True, slots=True)
class StackedBar:
    """A bar of parts that stand on each other."""

    left: float
    width: float
    segments: tuple[StackSegment, ...]


def funnel_bars(steps: Sequence[FunnelStep]) -> list[FunnelBar]:
    """Return a bar for each step; the widest is as wide as its view box."""
    most = max((step.count for step in steps), default=0)
    return [FunnelBar(step, round(max(_LEAST, 100 * step.count / most), 1) if step.count else 0.0) for step in steps]


def stacked_bars(columns: Sequence[Sequence[tuple[str, int]]]) -> list[StackedBar]:
    """Return a bar for each column of named counts, the first at the bottom; the highest one is 100 high."""
    most = max((sum(count for _, count in column) for column in columns), default=0)
    return [
        StackedBar(place * BAR_WIDTH + _GAP / 2, BAR_WIDTH - _GAP, tuple(_segments(column, most)))
        for place, column in enumerate(columns)
    ]


def _segments(column: Sequence[tuple[str, int]], most: int) -> list[StackSegment]:
    segments, top = [], 100.0
    for name, count in column:
        if count:
            height = 100 * count / most
            top -= height
            segments.append(StackSegment(name, round(max(top, 0.0), 2), round(height, 2)))
    return segments
