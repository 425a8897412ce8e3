"""Shares of a funnel are taken of the right whole, and judged against their bands."""

import pytest

from apps.pipeline.core.enums import Outcome, Reason, Stage
from apps.pipeline.core.funnel_metrics import (
    BANDS,
    LEAST_WHOLE,
    Health,
    Measure,
    Reading,
    Share,
    Tallies,
    candidates_of,
    quantile,
    readings,
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
        (Share.PRE_FILTER, 80 / 200, Health.HEALTHY),
        (Share.NO_CANDIDATE, 36 / 120, Health.HEALTHY),
        (Share.EMPTY_CALLS, 32 / 80, Health.HEALTHY),
        (Share.LOW_QUALITY, 40 / 100, Health.HEALTHY),
        (Share.DUPLICATES, 16 / 100, Health.HEALTHY),
        (Share.WEAKER, 4 / 100, Health.HEALTHY),
        (Share.FAILED_CALLS, 0.0, Health.HEALTHY),
        (Share.CACHED_CALLS, 70 / 80, Health.HEALTHY),
        (Share.NOTHING_NEW, 170 / 200, Health.HEALTHY),
    ],
)
def test_each_share_has_its_whole(share: Share, value: float, health: Health) -> None:
    (reading,) = [each for each in readings(FUNNEL) if each.share is share]
    assert reading.value == pytest.approx(value)
    assert reading.health is health


@pytest.mark.parametrize(
    ("share", "part", "health"),
    [
        (Share.NO_CANDIDATE, 32, Health.OUTSIDE),
        (Share.NO_CANDIDATE, 36, Health.ALERT),
        (Share.EMPTY_CALLS, 32, Health.OUTSIDE),
        (Share.EMPTY_CALLS, 29, Health.ALERT),
        (Share.LOW_QUALITY, 76, Health.ALERT),
        (Share.PRE_FILTER, 90, Health.OUTSIDE),
        (Share.FAILED_CALLS, 1, Health.ALERT),
    ],
)
def test_a_share_outside_its_band_is_told_and_far_outside_is_an_alert(share: Share, part: int, health: Health) -> None:
    assert Reading(share, part, 100).health is health


def test_quality_has_a_band_only_where_a_model_judges_it() -> None:
    without = Tallies({key: amount for key, amount in FUNNEL.sums.items() if key[0] is not Measure.CALLS})
    (reading,) = [each for each in readings(without) if each.share is Share.LOW_QUALITY]
    assert reading.value == pytest.approx(0.4)
    assert reading.health is Health.UNKNOWN


def test_few_measurements_say_nothing() -> None:
    assert Reading(Share.PRE_FILTER, 1, LEAST_WHOLE - 1).health is Health.UNKNOWN
    assert Reading(Share.PRE_FILTER, 0, 0).value is None


def test_every_share_is_read_and_has_a_band() -> None:
    assert [each.share for each in readings(FUNNEL)] == list(Share) == list(BANDS)


def test_a_quantile_is_exact_to_nine_percent() -> None:
    buckets = {80: 98, 104: 1, 160: 1}  # 2^10, 2^13 and 2^20 microseconds
    assert 1_024 <= (quantile(buckets, 0.5) or 0) <= 1_024 * 1.1
    assert 8_192 <= (quantile(buckets, 0.99) or 0) <= 8_192 * 1.1
    assert quantile({}, 0.5) is None
