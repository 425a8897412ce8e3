"""The alerts of the dashboard."""

from datetime import UTC, datetime

import pytest

from apps.console.selectors.alerts import alerts
from apps.console.selectors.dashboard import Dashboard, Gauge, QueueState, StageLatency
from apps.console.selectors.periods import PeriodStep, dashboard_period
from apps.pipeline.core.enums import Stage
from apps.pipeline.core.funnel_metrics import BANDS, Ratio, RatioReading, SuddenChange, Tallies

NOW = datetime(2026, 3, 5, 14, 25, tzinfo=UTC)
IDLE = QueueState(pending=0, oldest_seconds=0, failed=0, workers=1)


def dashboard(
    *,
    queue: QueueState = IDLE,
    readings: tuple[RatioReading, ...] = (),
    change: SuddenChange | None = None,
    speeds: tuple[StageLatency, ...] = (),
) -> Dashboard:
    return Dashboard(
        period=dashboard_period(PeriodStep.DAY, now=NOW),
        totals=Tallies({}),
        gauges=[Gauge(reading, BANDS[reading.ratio], []) for reading in readings],
        sudden_change=change,
        drops=[],
        reasons={},
        costs=[],
        speeds=list(speeds),
        queue=queue,
        tallied_at=NOW,
    )


def test_nothing_is_reported_while_all_is_well() -> None:
    shown = dashboard(
        readings=(RatioReading(Ratio.PRE_FILTER, 40, 100), RatioReading(Ratio.WEAKER, 0, 100)),
        speeds=(StageLatency(Stage.EXTRACT, spans=1_000, p50=400_000, p99=1_200_000),),
    )
    assert list(alerts(shown)) == []


@pytest.mark.parametrize(
    ("shown", "message"),
    [
        (
            dashboard(queue=QueueState(pending=1, oldest_seconds=3, failed=0, workers=0)),
            "No worker is running (last heartbeat over 30 s ago): accepted turns are waiting.",
        ),
        (
            dashboard(queue=QueueState(pending=0, oldest_seconds=0, failed=2, workers=1)),
            "2 queue entries failed; see Queue.",
        ),
        (
            dashboard(queue=QueueState(pending=1, oldest_seconds=61, failed=0, workers=1)),
            "The oldest pending work has been waiting for 61 seconds.",
        ),
        (
            dashboard(readings=(RatioReading(Ratio.LOW_QUALITY, 45, 100),)),
            "Candidates not worth remembering: 45%, healthy is at most 20%.",
        ),
        (
            dashboard(change=SuddenChange(Ratio.PRE_FILTER, before=0.42, latest=0.18)),
            "Users' turns dropped by the pre-filter: 18% in the latest day, 42% before.",
        ),
        (
            dashboard(speeds=(StageLatency(Stage.RESOLVE_REFS, spans=100, p50=1_000, p99=3_000_000),)),
            "Resolve names: the p99 latency is 3.0 s, its limit 2.5 s.",
        ),
    ],
)
def test_what_needs_attention_is_reported(shown: Dashboard, message: str) -> None:
    assert list(alerts(shown)) == [message]
