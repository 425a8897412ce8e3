"""Which conditions for alerts hold, given what was measured."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from apps.actions.alerts.conditions import Condition, Measured, SilentModel, conditions_of
from apps.alerts.enums import AlertKind
from apps.pipeline.core.enums import PausedKind, Reason, Stage
from apps.traces.funnel_metrics import Measure, Tallies

NOW = datetime(2026, 3, 5, 14, 25, tzinfo=UTC)
QUIET: Tallies = Tallies({})


def measured(**values: object) -> Measured:
    return Measured(**{"now": NOW, "workers": 1} | values)  # type: ignore[arg-type]


def calls(all_: int, *, failed: int) -> Tallies:
    return Tallies({(Measure.CALLS, "", ""): all_, (Measure.CALLS_FAILED, "", ""): failed})


def turns(all_: int, *, filtered: int) -> Tallies:
    return Tallies(
        {(Measure.TURNS, "", ""): all_, (Measure.DROPS, Stage.PRE_FILTER.value, Reason.GREETING.value): filtered}
    )


def silent(seconds: float, kind: PausedKind = PausedKind.MODEL) -> SilentModel:
    return SilentModel("openai:down", kind, NOW - timedelta(seconds=seconds), waiting=3)


def found(of: Measured) -> list[tuple[AlertKind, str]]:
    return [condition.key for condition in conditions_of(of)]


@pytest.mark.parametrize(
    ("of", "kinds"),
    [
        (measured(), []),
        (measured(open_work=5, oldest_seconds=299), []),
        (measured(open_work=5, oldest_seconds=300), [AlertKind.QUEUE_AGE]),
        (measured(workers=0), []),  # nothing waits
        (measured(workers=0, open_work=1, oldest_seconds=59), []),
        (measured(workers=0, open_work=1, oldest_seconds=60), [AlertKind.NO_WORKER]),
        (measured(workers=0, open_work=1, oldest_seconds=300), [AlertKind.NO_WORKER, AlertKind.QUEUE_AGE]),
        (measured(dead=1), [AlertKind.DEAD_WORK]),
        (measured(vector_lag_seconds=599), []),
        (measured(vector_lag_seconds=600), [AlertKind.VECTOR_LAG]),
    ],
)
def test_the_queue(of: Measured, kinds: list[AlertKind]) -> None:
    assert found(of) == [(kind, "") for kind in kinds]


@pytest.mark.parametrize(("seconds", "opens"), [(0, False), (59, False), (60, True), (86_400, True)])
def test_a_model_is_silent_for_a_minute_before_anybody_is_told(seconds: float, opens: bool) -> None:
    (condition,) = conditions_of(measured(silent_models=(silent(seconds),)))
    assert (condition.key, condition.opens) == ((AlertKind.MODEL_UNAVAILABLE, "openai:down"), opens)
    assert condition.figures["waiting"] == 3


def test_a_silent_embedder_is_a_kind_of_its_own() -> None:
    assert found(measured(silent_models=(silent(60, PausedKind.EMBEDDER),))) == [
        (AlertKind.EMBEDDER_UNAVAILABLE, "openai:down")
    ]


@pytest.mark.parametrize(
    ("hours", "window"),
    [
        ([calls(100, failed=0)], None),
        ([calls(100, failed=5)], None),  # 4.8 more than the limit of 0.2 % are chance
        ([calls(100, failed=6)], 1),
        ([calls(49, failed=49)], None),  # too few calls to judge
        ([calls(30, failed=30), calls(30, failed=30)], 2),
        ([calls(30, failed=30), QUIET, calls(30, failed=30)], 3),
        ([calls(500, failed=500), calls(60, failed=0)], None),  # mended: the latest hour says enough
        ([calls(500, failed=500), *[QUIET] * 23], 24),
        ([calls(500, failed=500), *[QUIET] * 24], None),  # longer ago than a day
    ],
)
def test_a_ratio_is_that_of_the_fewest_hours_that_say_enough(hours: list[Tallies], window: int | None) -> None:
    conditions = conditions_of(measured(hours=hours))
    assert [each.window_hours for each in conditions if each.key == (AlertKind.RATIO, "failed_calls")] == (
        [window] if window else []
    )


def test_a_ratio_that_is_too_low_counts_as_well() -> None:
    answers = Tallies({(Measure.ANSWERS, "extract", "empty"): 10, (Measure.ANSWERS, "extract", "objects"): 90})
    assert (AlertKind.RATIO, "empty_answers") in found(measured(hours=[answers]))


def test_a_ratio_outside_its_band_but_within_the_limits_is_no_alert() -> None:
    assert found(measured(hours=[turns(100, filtered=90)])) == []


@pytest.mark.parametrize(("latest", "changed"), [(59, False), (61, True), (18, True), (40, False)])
def test_the_share_of_the_pre_filter_changes_suddenly(latest: int, changed: bool) -> None:
    hours = [turns(200, filtered=80), turns(100, filtered=latest)]
    assert ((AlertKind.SUDDEN_CHANGE, "pre_filter") in found(measured(hours=hours))) == changed


def bucket(microseconds: int) -> int:
    """Return the first bucket of which all latencies are longer."""
    return next(number for number in range(400) if 2 ** (number / 8) > microseconds)


SLOW, FAST = bucket(11_000_000), bucket(100_000)


@pytest.mark.parametrize(
    ("histograms", "window"),
    [
        ([{FAST: 1_000}], None),
        ([{SLOW: 99}], None),
        ([{SLOW: 100}], 1),
        ([{SLOW: 50}, {SLOW: 50}], 2),
        ([{SLOW: 1_000}, {FAST: 100}], None),
        ([], None),
    ],
)
def test_the_latency_of_a_stage(histograms: list[Mapping[int, int]], window: int | None) -> None:
    conditions = conditions_of(measured(latencies={Stage.EXTRACT: histograms}))
    assert [(each.key, each.window_hours) for each in conditions] == (
        [((AlertKind.STAGE_LATENCY, "extract"), window)] if window else []
    )


def test_a_stage_without_a_limit_has_no_alert() -> None:
    assert conditions_of(measured(latencies={Stage.INDEX: [{SLOW: 1_000}]})) == []


def test_conditions_can_be_stored() -> None:
    """Their figures are plain JSON values."""
    of = measured(
        workers=0,
        open_work=2,
        oldest_seconds=700.5,
        vector_lag_seconds=700.5,
        dead=1,
        silent_models=(silent(70),),
        hours=[turns(200, filtered=80), turns(100, filtered=90), calls(100, failed=90)],
        latencies={Stage.EXTRACT: [{SLOW: 200}]},
    )
    conditions: list[Condition] = conditions_of(of)
    assert len(conditions) >= 7
    for condition in conditions:
        assert all(isinstance(value, str | int | float) for value in condition.figures.values()), condition
