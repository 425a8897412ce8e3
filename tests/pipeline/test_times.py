"""What an event's quote tells of its time counts from the turn, as exactly as it was told."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from apps.pipeline.resolution.times import dated
from apps.pipeline.vocabulary import MemoryType
from tests.pipeline.builders import candidate, turn

WEDNESDAY = datetime(2025, 6, 4, 22, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("quote", "day", "precision"),
    [
        ("I sailed yesterday", "2025-06-03", "day"),
        ("I sail tomorrow", "2025-06-05", "day"),
        ("Last Saturday I sailed", "2025-05-31", "day"),
        ("I sail next Friday", "2025-06-06", "day"),
        ("I sailed 3 days ago", "2025-06-01", "day"),
        ("I sailed two weeks ago", "2025-05-01", "month"),
        ("I sailed last month", "2025-05-01", "month"),
        ("I sail next month", "2025-07-01", "month"),
        ("I sailed a month ago", "2025-05-01", "month"),
        ("I sailed two years ago", "2023-01-01", "year"),
        ("I sailed last year", "2024-01-01", "year"),
        ("I sail in three weeks", "2025-06-01", "month"),
        ("Ich segelte vor zwei Jahren", "2023-01-01", "year"),
        ("gestern bin ich gesegelt", "2025-06-03", "day"),
        ("j'ai navigué il y a trois jours", "2025-06-01", "day"),
        ("ayer navegué", "2025-06-03", "day"),
    ],
)
def test_relative_times(quote: str, day: str, precision: str) -> None:
    source = replace(turn(quote), occurred_at=WEDNESDAY)
    told = dated(candidate(quote, source=source, type=MemoryType.EVENT), turn=source)
    assert told.event_at is not None
    assert (told.event_at.isoformat(), told.event_precision) == (f"{day}T00:00:00+00:00", precision)


@pytest.mark.parametrize(
    ("said", "hours", "quote", "day"),
    [
        ("2025-06-04T22:30", 9, "I sailed yesterday", "2025-06-04"),  # Thursday morning in Tokyo
        ("2025-06-08T03:30", -7, "Last Saturday I sailed", "2025-05-31"),  # still Saturday in Los Angeles
        ("2025-06-08T03:30", 0, "Last Saturday I sailed", "2025-06-07"),
        ("2025-01-01T05:00", -8, "I sailed last year", "2023-01-01"),
        ("2025-05-31T23:00", 2, "I sailed last month", "2025-05-01"),
        ("1900-01-01T00:00", -12, "I sail tomorrow", "1900-01-01"),
    ],
)
def test_the_day_is_that_of_whoever_speaks(said: str, hours: int, quote: str, day: str) -> None:
    moment = datetime.fromisoformat(said).replace(tzinfo=UTC)
    source = replace(turn(quote), occurred_at=moment, utc_offset=hours * 60)
    told = dated(candidate("x", source=source, type=MemoryType.EVENT), turn=source)
    assert told.event_at == datetime.fromisoformat(day).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "quote", ["I sailed", "I sailed yesterday and last Friday", "I sailed last summer", "in a week of rain a year ago"]
)
def test_nothing_is_guessed_from_the_quote(quote: str) -> None:
    source = replace(turn(quote), occurred_at=WEDNESDAY)
    assert dated(candidate(quote, source=source, type=MemoryType.EVENT), turn=source).event_at is None


def test_nothing_is_guessed_without_a_time_of_the_turn_or_for_what_is_no_event() -> None:
    source = turn("I sailed yesterday")
    assert dated(candidate("x", source=source, type=MemoryType.EVENT), turn=source).event_at is None
    known = replace(source, occurred_at=WEDNESDAY)
    assert dated(candidate("x", source=known), turn=known).event_at is None
    told = candidate("x", source=known, type=MemoryType.EVENT, event_at=WEDNESDAY)
    assert dated(told, turn=known) == told
