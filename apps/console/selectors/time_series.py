"""Time series for plots.js to draw."""

import json
from dataclasses import dataclass

from apps.console.labels import label
from apps.console.selectors.dashboard import Dashboard, Gauge


@dataclass(frozen=True, slots=True)
class TimeSeries:
    """Lines over the steps of a period; `unit` is percent or dollars, `band` is shaded behind the lines."""

    label: str
    unit: str
    times: list[int]  # seconds since 1970
    lines: dict[str, list[float | None]]
    band: tuple[float, float] | None = None

    def as_json(self) -> str:
        """Return the JSON that plots.js reads."""
        lines = [{"label": label, "values": values} for label, values in self.lines.items()]
        return json.dumps({"unit": self.unit, "times": self.times, "lines": lines, "band": self.band})


@dataclass(frozen=True, slots=True)
class GaugeTimeSeries:
    """A gauge with its time series."""

    gauge: Gauge
    plot: TimeSeries


def gauge_series(shown: Dashboard) -> list[GaugeTimeSeries]:
    """Return a time series for each ratio, in the order of the funnel."""
    times = _times(shown)
    return [
        GaugeTimeSeries(
            gauge,
            TimeSeries(
                label=f"{gauge.label} over time",
                unit="percent",
                times=times,
                lines={"share": gauge.values},
                band=(gauge.band.low, gauge.band.high),
            ),
        )
        for gauge in shown.gauges
    ]


def reason_series(shown: Dashboard) -> TimeSeries:
    """Return the shares of rejected turns by reason."""
    lines: dict[str, list[float | None]] = {label(why): [*values] for why, values in shown.reasons.items()}
    return TimeSeries("share of users' turns rejected, by reason", "percent", _times(shown), lines)


def cost_series(shown: Dashboard) -> TimeSeries:
    """Return the cost of model calls."""
    return TimeSeries("dollars over time", "dollars", _times(shown), {"dollars": [*shown.costs]})


def _times(shown: Dashboard) -> list[int]:
    return [int(moment.timestamp()) for moment in shown.period.steps]
