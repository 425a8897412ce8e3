"""Decay: important, fresh and used memories stay, others are archived; rules never are."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.memories.models import Memory
from apps.memories.services.lifecycle import decay_score, is_past
from apps.pipeline.core.enums import CONSTRAINT, CONVENTION, MemoryType
from apps.pipeline.core.policy import DecayPolicy

NOW = datetime(2030, 6, 1, tzinfo=UTC)
POLICY = DecayPolicy()
YEAR = POLICY.half_life_days[MemoryType.FACT]


def standing(*, days: float = 0, used_days: float | None = None, **values: Any) -> Memory:
    used, fresh_at = None if used_days is None else NOW - timedelta(days=used_days), NOW - timedelta(days=days)
    known = {"type": MemoryType.FACT, "importance": 0.5, "said_at": fresh_at, "created_at": fresh_at}
    return Memory(**{**known, "last_accessed": used, **values})


def score(**values: Any) -> float:
    return decay_score(standing(**values), now=NOW, policy=POLICY)


def past(**values: Any) -> bool:
    return is_past(standing(**values), now=NOW, policy=POLICY)


def test_the_weights_are_one_together() -> None:
    assert POLICY.importance + POLICY.freshness + POLICY.access == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"importance": 1.0}, 0.45 + 0.35),
        ({"importance": 0.0}, 0.35),
        ({"importance": 0.0, "days": YEAR}, 0.35 / 2),
        ({"importance": 0.0, "days": 2 * YEAR}, 0.35 / 4),
        ({"importance": 0.0, "days": -YEAR}, 0.35),
        ({"importance": 0.0, "days": YEAR, "access_count": 1, "used_days": 0}, 0.35 / 2 + 0.10),
        ({"importance": 0.0, "days": YEAR, "access_count": 2, "used_days": YEAR}, 0.35 / 2 + 0.075),
        ({"importance": 0.0, "days": YEAR, "access_count": 2}, 0.35 / 2),
        ({"importance": 1.0, "access_count": 10_000, "used_days": 0}, 1.0),
        ({"importance": 0.0, "days": 1_000 * YEAR}, 0.0),
    ],
)
def test_the_score_is_the_sum_of_importance_freshness_and_use(values, expected) -> None:
    assert score(**values) == pytest.approx(expected)


@pytest.mark.parametrize(("sooner", "later"), [(MemoryType.EVENT, MemoryType.FACT), (MemoryType.FACT, "relation")])
def test_types_fade_at_their_own_pace(sooner, later) -> None:
    assert score(type=sooner, days=300) < score(type=MemoryType(later), days=300)


@pytest.mark.parametrize(
    ("values", "is_gone"),
    [
        ({"importance": 0.1}, False),
        ({"importance": 0.1, "days": 2 * YEAR}, True),
        ({"importance": 0.1, "days": 2 * YEAR, "access_count": 5, "used_days": 1}, False),
        ({"importance": 0.5, "days": 50 * YEAR}, False),
        ({"importance": 0.0, "days": 50 * YEAR, "tags": [CONSTRAINT]}, False),
        ({"importance": 0.0, "days": 50 * YEAR, "tags": ["goal", CONVENTION]}, False),
        ({"importance": 0.0, "days": 50 * YEAR, "tags": ["goal"]}, True),
        ({"importance": 1.0, "expires_at": NOW}, True),
        ({"importance": 1.0, "expires_at": NOW, "tags": [CONSTRAINT]}, True),
        ({"importance": 1.0, "expires_at": NOW + timedelta(seconds=1)}, False),
    ],
)
def test_what_is_past(values, is_gone) -> None:
    assert past(**values) is is_gone


def test_a_threshold_of_nothing_archives_nothing() -> None:
    never = DecayPolicy(archive_below=0)
    assert not is_past(standing(importance=0, days=99 * YEAR), now=NOW, policy=never)
