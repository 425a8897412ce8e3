"""Plots: numbers over time as the page's script draws them."""

import json
from dataclasses import dataclass

from apps.console.selectors.dashboard import Dashboard, Gauge


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines over the steps of a period; `unit` is percent or dollars, a band is drawn in behind them."""

    label: str
    unit: str
    times: list[int]  # seconds since 1970
    lines: dict[str, list[float | None]]
    band: tuple[float, float] | None = None

    def as_json(self) -> str:
        """Return it as the script takes it."""
        lines = [{"label": label, "values": values} for label, values in self.lines.items()]
        return json.dumps({"unit": self.unit, "times": self.times, "lines": lines, "band": self.band})


@dataclass(frozen=True, slots=True)
class GaugePlot:
    """A share with its plot."""

    gauge: Gauge
    plot: Plot


def gauge_plots(shown: Dashboard) -> list[GaugePlot]:
    """Return a small plot for each share, in the order of the funnel."""
    times = _times(shown)
    return [
        GaugePlot(
            gauge,
            Plot(
                label=f"{gauge.reading.share} over time",
                unit="percent",
                times=times,
                lines={"share": gauge.course},
                band=(gauge.band.low, gauge.band.high),
            ),
        )
        for gauge in shown.gauges
    ]


def reasons_plot(shown: Dashboard) -> Plot:
    """Return the plot of why turns are rejected."""
    lines: dict[str, list[float | None]] = {why.replace("_", " "): [*course] for why, course in shown.reasons.items()}
    return Plot("share of users' turns rejected, by reason", "percent", _times(shown), lines)


def cost_plot(shown: Dashboard) -> Plot:
    """Return the plot of what the model calls cost."""
    return Plot("dollars over time", "dollars", _times(shown), {"dollars": [*shown.costs]})


def _times(shown: Dashboard) -> list[int]:
    return [int(moment.timestamp()) for moment in shown.period.steps]
