"""Precision, recall and zero-extraction from labelled items."""

from collections.abc import Sequence
from datetime import date
from typing import Any
from uuid import UUID

import pytest

from apps.memories.models import EvaluationItem, EvaluationSample
from apps.pipeline.core.enums import LabelValue, SampleKind
from apps.tuning.evaluation.figures import TurnCounts, figures_by, figures_of, share_of
from tests.tuning.evaluation.evaluated import labelled

THING = UUID(int=1)
WEEK, NEXT = date(2030, 6, 3), date(2030, 6, 10)
GOOD, UNTRUE, OUTDATED, USELESS, NOTHING, SOMETHING, SKIPPED = LabelValue


def item(*values: LabelValue, week: date = WEEK, **fields: Any) -> EvaluationItem:
    of = {"turn_id": THING} if {NOTHING, SOMETHING} & set(values) else {"memory_id": THING}
    return labelled(*values, sample=EvaluationSample(week=week), **{"version": 1, **of, **fields})


@pytest.mark.parametrize(
    ("values", "is_good"),
    [
        ((), None),
        ((SKIPPED,), None),
        ((GOOD,), True),
        ((UNTRUE,), False),
        ((OUTDATED,), False),
        ((USELESS,), False),
        ((GOOD, SKIPPED), True),
        ((GOOD, UNTRUE), False),
        ((GOOD, GOOD, UNTRUE), True),
        ((NOTHING,), True),
        ((SOMETHING,), False),
        ((NOTHING, SOMETHING), False),
    ],
)
def test_several_labels_become_one(values: Sequence[LabelValue], is_good: bool | None) -> None:
    assert item(*values).is_good is is_good


def test_precision_counts_memories_that_are_true_current_and_useful() -> None:
    items = [*[item(GOOD)] * 7, item(UNTRUE), item(OUTDATED), item(USELESS), item(SKIPPED), item(SOMETHING)]
    found = figures_of(items=items)
    assert found.precision == share_of(part=7, whole=10)
    assert found.failures == {UNTRUE: 1, OUTDATED: 1, USELESS: 1}


def test_recall_weighs_the_samples_by_the_turns_that_they_stand_for() -> None:
    """Of 1,000 turns 200 gave a memory; nine of ten memories are good, and one of ten other turns was missed."""
    items = [*[item(GOOD)] * 90, *[item(UNTRUE)] * 10, *[item(NOTHING)] * 45, *[item(SOMETHING)] * 5]
    counts = [TurnCounts(WEEK, 1, turns=1_000, passed=500, stored=200)]
    recall = figures_of(items=items, counts=counts).recall
    assert (recall.found, recall.missed) == (pytest.approx(180), pytest.approx(80))
    assert recall.value == pytest.approx(180 / 260)
    assert recall.low is not None
    assert recall.high is not None
    good, missed = share_of(part=90, whole=100, confidence=0.975), share_of(part=5, whole=50, confidence=0.975)
    bounds = (good.low, good.high, missed.low, missed.high)
    good_low, good_high, missed_low, missed_high = (each for each in bounds if each is not None)
    assert recall.low == pytest.approx(200 * good_low / (200 * good_low + 800 * missed_high))
    assert recall.high == pytest.approx(200 * good_high / (200 * good_high + 800 * missed_low))


@pytest.mark.parametrize(
    ("items", "recall"),
    [
        ([item(GOOD)], None),  # no turn is labelled
        ([item(SOMETHING)], None),  # no memory is
        ([item(GOOD), item(NOTHING)], 1.0),
        ([item(UNTRUE), item(SOMETHING)], 0.0),
        ([item(UNTRUE), item(NOTHING)], None),  # nothing was worth storing
    ],
)
def test_recall_of_small_samples(items: Sequence[EvaluationItem], recall: float | None) -> None:
    counts = [TurnCounts(WEEK, 1, turns=10, passed=10, stored=4)]
    assert figures_of(items=items, counts=counts).recall.value == recall


def test_zero_extraction_is_counted_over_the_turns_that_passed_the_pre_filter() -> None:
    counts = [TurnCounts(week, 1, turns=100, passed=passed, stored=20) for week, passed in ((WEEK, 60), (NEXT, 20))]
    found = figures_of(items=(), counts=counts).zero_extraction
    assert (found.part, found.whole, found.value) == (40, 80, 0.5)


def test_groups_are_apart_and_in_order() -> None:
    items = [
        item(GOOD, model="patterns"),
        item(UNTRUE, model="patterns", week=NEXT, version=2),
        item(GOOD, model="claude", week=NEXT, version=2),
        item(GOOD, model="direct", version=None),
        item(NOTHING),
    ]
    counts = [TurnCounts(WEEK, 1, turns=4, passed=4, stored=2), TurnCounts(NEXT, 2, turns=4, passed=4, stored=1)]
    by_version = figures_by("version", items=items, counts=counts)
    assert [*by_version] == [1, 2]
    assert by_version[2].precision == share_of(part=1, whole=2)
    assert by_version[2].zero_extraction.value == 0.75
    by_week = figures_by("week", items=items, counts=counts)
    assert [figures.precision.whole for figures in by_week.values()] == [2, 2]
    by_model = figures_by("model", items=items)
    assert {model: figures.precision.part for model, figures in by_model.items()} == {
        "claude": 1,
        "direct": 1,
        "patterns": 1,
    }


def test_labellers_are_compared_for_each_kind() -> None:
    items = [
        item(GOOD, GOOD),
        item(UNTRUE, UNTRUE),
        item(GOOD, SKIPPED),
        item(NOTHING, SOMETHING),
        item(SOMETHING, NOTHING),
    ]
    found = figures_of(items=items).agreement
    assert {kind: each.kappa for kind, each in found.items()} == {SampleKind.MEMORY: 1.0, SampleKind.TURN: -1.0}
