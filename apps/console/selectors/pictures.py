"""Pictures: shapes in plain numbers, for templates to draw as SVG; no style in them, for the page allows none."""

from dataclasses import dataclass

_WIDTH = 100.0  # of a step's own box, which is stretched to its place
_HEIGHT = 40.0
_LEAST = 1.5  # a step that lets a single one through is still seen


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """One step: a trapezium that narrows from what came in to what goes on."""

    label: str
    count: int
    note: str  # what was lost on the way, in words
    points: str


def funnel(steps: list[tuple[str, int, str]]) -> list[FunnelStep]:
    """Draw (label, count, note) as a funnel, the widest step over the whole width of its box, 100 by 40."""
    most = max((count for _, count, _ in steps), default=0)
    widths = [_width(count, most) for _, count, _ in steps]
    after = [*widths[1:], *widths[-1:]]
    return [
        FunnelStep(label, count, note, _trapezium(above, below))
        for (label, count, note), above, below in zip(steps, widths, after, strict=True)
    ]


def _width(count: int, most: int) -> float:
    return max(_LEAST, _WIDTH * count / most) if count and most else 0.0


def _trapezium(above: float, below: float) -> str:
    centre = _WIDTH / 2
    corners = (
        (centre - above / 2, 0),
        (centre + above / 2, 0),
        (centre + below / 2, _HEIGHT),
        (centre - below / 2, _HEIGHT),
    )
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
