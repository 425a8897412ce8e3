"""How alike two spellings are, and that long ones cost nothing."""

import pytest

from apps.pipeline.core import spelling


@pytest.mark.parametrize(
    ("one", "other", "least", "percent"),
    [
        ("katherine", "katherine", 92, 100),
        ("katherine", "kathrine", 92, 94),
        ("lactose", "lactoze", 82, 86),
        ("jogging", "joging", 82, 92),
        ("marta", "martin", 82, 0),  # 73, below the least
        ("priya sharma", "priya sharme", 87, 92),
        ("", "word", 50, 0),
    ],
)
def test_percent_of_the_letters(one: str, other: str, least: float, percent: float) -> None:
    assert round(spelling.similarity(one, other, least=least)) == percent


def test_long_texts_are_alike_only_if_equal() -> None:
    long = "ab" * 50_000
    assert spelling.similarity(long, long, least=90) == 100
    assert spelling.similarity(long, long + "c", least=90) == 0
