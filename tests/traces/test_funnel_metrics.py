"""Ratios of the funnel and their bands, and slow stages."""

import pytest

from apps.pipeline.core.enums import Outcome, Reason, Stage
from apps.pipeline.core.model_calls import AnswerKind, Purpose
from apps.traces.funnel_metrics import (
    BANDS,
    MIN_SPANS,
    MIN_WHOLE,
    P99_LIMITS_US,
    Measure,
    Ratio,
    RatioHealth,
    RatioReading,
    Tallies,
    candidates_of,
    is_too_slow,
    quantile,
    ratio_readings,
    total_of,
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
        (Measure.RULINGS, "", Outcome.STORED): 30,
        (Measure.RULINGS, "", Outcome.MERGED): 10,
        (Measure.RULINGS, "", Outcome.PENDING_REVIEW): 14,
        (Measure.REVIEWS, "", Reason.WEAKER_EVIDENCE): 3,
        (Measure.REVIEWS, "", Reason.LESS_TRUSTED): 1,
        (Measure.REVIEWS, "", Reason.CONTRADICTION): 10,
        (Measure.CALLS, "", ""): 100,
        (Measure.CALLS_CACHED, "", ""): 87,
        (Measure.ANSWERS, Purpose.EXTRACT, AnswerKind.EMPTY): 32,
        (Measure.ANSWERS, Purpose.EXTRACT, AnswerKind.MEMORIES): 48,
        (Measure.ANSWERS, Purpose.EXTRACT_SESSION, AnswerKind.EMPTY): 5,
        (Measure.ANSWERS, Purpose.JUDGE_PAIRS, AnswerKind.UNPARSABLE): 1,
    }
)


def test_candidates_are_those_that_passed_all_stages_and_those_dropped_after_extraction() -> None:
    assert candidates_of(FUNNEL) == 40 + 6 + 54


@pytest.mark.parametrize(
    ("ratio", "value", "health"),
    [
        (Ratio.PRE_FILTER, 80 / 200, RatioHealth.HEALTHY),
        (Ratio.NO_CANDIDATE, 36 / 120, RatioHealth.HEALTHY),
        (Ratio.EMPTY_ANSWERS, 32 / 80, RatioHealth.HEALTHY),
        (Ratio.LOW_QUALITY, 40 / 100, RatioHealth.OUTSIDE),
        (Ratio.DUPLICATES, 16 / 100, RatioHealth.HEALTHY),
        (Ratio.WEAKER, 4 / 100, RatioHealth.HEALTHY),
        (Ratio.FAILED_CALLS, 0.0, RatioHealth.HEALTHY),
        (Ratio.CACHED_CALLS, 87 / 100, RatioHealth.HEALTHY),
        (Ratio.NOTHING_NEW, 170 / 200, RatioHealth.HEALTHY),
    ],
)
def test_each_ratio_refers_to_its_whole(ratio: Ratio, value: float, health: RatioHealth) -> None:
    (reading,) = [each for each in ratio_readings(FUNNEL) if each.ratio is ratio]
    assert reading.value == pytest.approx(value)
    assert reading.health is health


@pytest.mark.parametrize(
    ("ratio", "part", "health"),
    [
        (Ratio.NO_CANDIDATE, 32, RatioHealth.OUTSIDE),
        (Ratio.NO_CANDIDATE, 36, RatioHealth.ALERT),
        (Ratio.EMPTY_ANSWERS, 32, RatioHealth.OUTSIDE),
        (Ratio.EMPTY_ANSWERS, 29, RatioHealth.ALERT),
        (Ratio.LOW_QUALITY, 1, RatioHealth.HEALTHY),
        (Ratio.LOW_QUALITY, 30, RatioHealth.OUTSIDE),
        (Ratio.LOW_QUALITY, 41, RatioHealth.ALERT),
        (Ratio.WEAKER, 0, RatioHealth.HEALTHY),
        (Ratio.PRE_FILTER, 90, RatioHealth.OUTSIDE),
        (Ratio.FAILED_CALLS, 1, RatioHealth.ALERT),
    ],
)
def test_a_ratio_outside_its_band_is_marked_and_far_outside_is_an_alert(
    ratio: Ratio, part: int, health: RatioHealth
) -> None:
    assert RatioReading(ratio, part, 100).health is health


def test_quality_has_a_band_only_where_a_model_judges_it() -> None:
    without = Tallies({key: amount for key, amount in FUNNEL.sums.items() if key[0] is not Measure.CALLS})
    (reading,) = [each for each in ratio_readings(without) if each.ratio is Ratio.LOW_QUALITY]
    assert reading.value == pytest.approx(0.4)
    assert reading.health is RatioHealth.UNKNOWN


def test_few_measurements_say_nothing() -> None:
    assert RatioReading(Ratio.PRE_FILTER, 1, MIN_WHOLE - 1).health is RatioHealth.UNKNOWN
    assert RatioReading(Ratio.PRE_FILTER, 0, 0).value is None


def test_every_ratio_is_read_and_has_a_band() -> None:
    assert [each.ratio for each in ratio_readings(FUNNEL)] == list(Ratio) == list(BANDS)


def test_a_quantile_is_exact_to_nine_percent() -> None:
    buckets = {80: 98, 104: 1, 160: 1}  # 2^10, 2^13 and 2^20 microseconds
    assert 1_024 <= (quantile(buckets, 0.5) or 0) <= 1_024 * 1.1
    assert 8_192 <= (quantile(buckets, 0.99) or 0) <= 8_192 * 1.1
    assert quantile({}, 0.5) is None


def dropped(share: float, *, turns: int = 1_000) -> Tallies:
    """Return the tallies of a step in which the pre-filter dropped a share of the users' turns."""
    return Tallies({(Measure.TURNS, "", ""): turns, (Measure.DROPS, Stage.PRE_FILTER, Reason.GREETING): share * turns})


def test_tallies_of_several_steps_are_added_up() -> None:
    total = total_of([dropped(0.5, turns=100), dropped(0.1, turns=10)])
    assert (total.of(Measure.TURNS), total.of(Measure.DROPS)) == (110, 51)


@pytest.mark.parametrize(
    ("stage", "spans", "p99_us", "slow"),
    [
        (Stage.PRE_FILTER, MIN_SPANS, 5_001, True),
        (Stage.PRE_FILTER, MIN_SPANS, 5_000, False),
        (Stage.PRE_FILTER, MIN_SPANS - 1, 50_000, False),
        (Stage.PRE_FILTER, 0, None, False),
        (Stage.RESOLVE_REFS, 1_000, 2_600_000, True),
        (Stage.INDEX, 1_000, 99_000_000, False),
    ],
)
def test_a_stage_is_too_slow_beyond_its_limit(stage: Stage, spans: int, p99_us: int | None, slow: bool) -> None:
    assert is_too_slow(stage, spans=spans, p99_us=p99_us) is slow


def test_every_stage_that_is_measured_has_a_limit() -> None:
    assert set(P99_LIMITS_US) == set(Stage) - {Stage.INDEX}  # indexing writes no spans
