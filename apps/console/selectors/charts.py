"""Chart geometry for templates to draw as SVG; without inline styles, which the page's CSP forbids."""

from dataclasses import dataclass

_WIDTH = 100.0  # of a step's view box, which is stretched to fit
_HEIGHT = 40.0
_MIN_WIDTH = 1.5  # so that a count of one stays visible


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """A step of a funnel: a trapezium that narrows to the width of the next step."""

    label: str
    count: int
    note: str  # what was dropped in this step
    points: str


def funnel_chart(steps: list[tuple[str, int, str]]) -> list[FunnelStep]:
    """Return the shapes for steps (label, count, note); the widest step fills its view box of 100 by 40."""
    most = max((count for _, count, _ in steps), default=0)
    widths = [max(_MIN_WIDTH, _WIDTH * count / most) if count else 0.0 for _, count, _ in steps]
    after = [*widths[1:], *widths[-1:]]
    return [
        FunnelStep(label, count, note, _trapezium(above, below))
        for (label, count, note), above, below in zip(steps, widths, after, strict=True)
    ]


def _trapezium(above: float, below: float) -> str:
    centre = _WIDTH / 2
    corners = (
        (centre - above / 2, 0),
        (centre + above / 2, 0),
        (centre + below / 2, _HEIGHT),
        (centre - below / 2, _HEIGHT),
    )
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
