"""Shares of a funnel are taken of the right whole, and judged against their bands."""

import pytest

from apps.pipeline.core.enums import Outcome, Reason, Stage
from apps.pipeline.core.funnel_metrics import (
    BANDS,
    LEAST_WHOLE,
    Measure,
    Ratio,
    RatioHealth,
    RatioReading,
    Tallies,
    candidates_of,
    quantile,
    ratio_readings,
)

FUNNEL = Tallies(
    {
        (Measure.TURNS, "", ""): 500,
        (Measure.DROPS, Stage.PRE_FILTER, Reason.UNTRUSTED_ROLE): 300,  # context, of no share
        (Measure.NEW_TURNS, "", ""): 30,
        (Measure.DROPS, Stage.PRE_FILTER, Reason.GREETING): 50,
        (Measure.DROPS, Stage.PRE_FILTER, "pattern:shop"): 30,
        (Measure.DROPS, Stage.EXTRACT, Reason.NO_CANDIDATE): 36,
        (Measure.DROPS, Stage.EXTRACT, Reason.LOW_QUALITY): 40,
        (Measure.DROPS, Stage.DEDUPE, Reason.DUPLICATE): 6,
        (Measure.DROPS, Stage.CONFLICT, Reason.WEAKER_EVIDENCE): 4,
        (Measure.RULINGS, "", Outcome.STORED): 30,
        (Measure.RULINGS, "", Outcome.MERGED): 10,
        (Measure.RULINGS, "", Outcome.PENDING_REVIEW): 10,
        (Measure.CALLS, "", ""): 80,
        (Measure.CALLS_CACHED, "", ""): 70,
        (Measure.ANSWERS, "", "empty"): 32,
    }
)


def test_candidates_are_those_that_came_through_and_those_dropped_after_they_were_proposed() -> None:
    assert candidates_of(FUNNEL) == 40 + 6 + 4 + 50


@pytest.mark.parametrize(
    ("share", "value", "health"),
    [
        (Ratio.PRE_FILTER, 80 / 200, RatioHealth.HEALTHY),
        (Ratio.NO_CANDIDATE, 36 / 120, RatioHealth.HEALTHY),
        (Ratio.EMPTY_CALLS, 32 / 80, RatioHealth.HEALTHY),
        (Ratio.LOW_QUALITY, 40 / 100, RatioHealth.HEALTHY),
        (Ratio.DUPLICATES, 16 / 100, RatioHealth.HEALTHY),
        (Ratio.WEAKER, 4 / 100, RatioHealth.HEALTHY),
        (Ratio.FAILED_CALLS, 0.0, RatioHealth.HEALTHY),
        (Ratio.CACHED_CALLS, 70 / 80, RatioHealth.HEALTHY),
        (Ratio.NOTHING_NEW, 170 / 200, RatioHealth.HEALTHY),
    ],
)
def test_each_share_has_its_whole(share: Ratio, value: float, health: RatioHealth) -> None:
    (reading,) = [each for each in ratio_readings(FUNNEL) if each.share is share]
    assert reading.value == pytest.approx(value)
    assert reading.health is health


@pytest.mark.parametrize(
    ("share", "part", "health"),
    [
        (Ratio.NO_CANDIDATE, 32, RatioHealth.OUTSIDE),
        (Ratio.NO_CANDIDATE, 36, RatioHealth.ALERT),
        (Ratio.EMPTY_CALLS, 32, RatioHealth.OUTSIDE),
        (Ratio.EMPTY_CALLS, 29, RatioHealth.ALERT),
        (Ratio.LOW_QUALITY, 76, RatioHealth.ALERT),
        (Ratio.PRE_FILTER, 90, RatioHealth.OUTSIDE),
        (Ratio.FAILED_CALLS, 1, RatioHealth.ALERT),
    ],
)
def test_a_share_outside_its_band_is_told_and_far_outside_is_an_alert(
    share: Ratio, part: int, health: RatioHealth
) -> None:
    assert RatioReading(share, part, 100).health is health


def test_quality_has_a_band_only_where_a_model_judges_it() -> None:
    without = Tallies({key: amount for key, amount in FUNNEL.sums.items() if key[0] is not Measure.CALLS})
    (reading,) = [each for each in ratio_readings(without) if each.share is Ratio.LOW_QUALITY]
    assert reading.value == pytest.approx(0.4)
    assert reading.health is RatioHealth.UNKNOWN


def test_few_measurements_say_nothing() -> None:
    assert RatioReading(Ratio.PRE_FILTER, 1, LEAST_WHOLE - 1).health is RatioHealth.UNKNOWN
    assert RatioReading(Ratio.PRE_FILTER, 0, 0).value is None


def test_every_share_is_read_and_has_a_band() -> None:
    assert [each.share for each in ratio_readings(FUNNEL)] == list(Ratio) == list(BANDS)


def test_a_quantile_is_exact_to_nine_percent() -> None:
    buckets = {80: 98, 104: 1, 160: 1}  # 2^10, 2^13 and 2^20 microseconds
    assert 1_024 <= (quantile(buckets, 0.5) or 0) <= 1_024 * 1.1
    assert 8_192 <= (quantile(buckets, 0.99) or 0) <= 8_192 * 1.1
    assert quantile({}, 0.5) is None
