"""Times in an event's quote are relative to its turn and keep their precision."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.statement import Candidate
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.resolution.dates import dated
from tests.pipeline.builders import candidate, turn

WEDNESDAY = datetime(2025, 6, 4, 22, 30, tzinfo=UTC)
PHRASES = (
    "on the 31st", "on 29 February", "last February", "999 years ago", "last quarter", "on 31 June", "in June",
    "over the weekend", "on Monday", "the year before last", "this weekend", "in 2099",
)  # fmt: skip


def event(content: str, source: SourceTurn) -> Candidate:
    return candidate(content, source=source, type=MemoryType.EVENT)


def told(text: str, *, said: datetime | None = WEDNESDAY, **changes: Any) -> tuple[str, str] | None:
    """Return the day and precision of an event with this sentence, said in UTC."""
    source = replace(turn(text), occurred_at=said)
    event = dated(candidate(text, source=source, type=MemoryType.EVENT, **changes), turn=source)
    return (f"{event.event_at:%Y-%m-%d}", str(event.event_precision)) if event.event_at else None


@pytest.mark.parametrize(
    ("text", "day", "precision"),
    [
        ("User sailed yesterday", "2025-06-03", "day"),
        ("User sailed the day before yesterday", "2025-06-02", "day"),
        ("User sails tomorrow", "2025-06-05", "day"),
        ("User sails the day after tomorrow", "2025-06-06", "day"),
        ("User sailed last night", "2025-06-03", "day"),
        ("Last Saturday User sailed", "2025-05-31", "day"),
        ("User sailed last Wednesday", "2025-05-28", "day"),
        ("User sails next Friday", "2025-06-06", "day"),
        ("User sailed this Monday", "2025-06-02", "day"),
        ("User is sailing this Monday", "2025-06-09", "day"),
        ("User sailed on Friday", "2025-05-30", "day"),
        ("User sailed 3 days ago", "2025-06-01", "day"),
        ("User sailed on 31 May", "2025-05-31", "day"),
        ("User will sail on the 24th of May", "2026-05-24", "day"),
        ("User sailed on 3 May 2019", "2019-05-03", "day"),
        ("User sailed on 2019-05-03", "2019-05-03", "day"),
        ("User sailed last week", "2025-05-26", "week"),
        ("User sails next week", "2025-06-09", "week"),
        ("User sailed two weeks ago", "2025-05-19", "week"),
        ("User sails in three weeks", "2025-06-23", "week"),
        ("User sailed last month", "2025-05-01", "month"),
        ("User sailed a month ago", "2025-05-01", "month"),
        ("User sailed in May", "2025-05-01", "month"),
        ("User will sail in May", "2026-05-01", "month"),
        ("User sailed in May 2019", "2019-05-01", "month"),
        ("User sailed last quarter", "2025-01-01", "quarter"),
        ("User sailed two years ago", "2023-01-01", "year"),
        ("User sailed in 2019", "2019-01-01", "year"),
        ("Ich segelte vor zwei Jahren", "2023-01-01", "year"),
        ("gestern bin ich gesegelt", "2025-06-03", "day"),
        ("Letzte Woche bin ich gesegelt", "2025-05-26", "week"),
        ("j'ai navigué il y a trois jours", "2025-06-01", "day"),
        ("j'ai navigué la semaine dernière", "2025-05-26", "week"),
        ("navegué la semana pasada", "2025-05-26", "week"),
        ("navegué hace 2 años", "2023-01-01", "year"),
    ],
)
def test_times_count_from_the_day_on_which_they_were_said(text: str, day: str, precision: str) -> None:
    assert told(text) == (day, precision)


@pytest.mark.parametrize(
    ("text", "on", "day"),
    [
        ("User sails next Friday", "2025-06-06", "2025-06-13"),
        ("User sailed last month", "2025-03-31", "2025-02-01"),
        ("User sailed last quarter", "2025-02-28", "2024-10-01"),
        ("User sailed last week", "2025-01-01", "2024-12-23"),
        ("User sails tomorrow", "2024-02-28", "2024-02-29"),
    ],
)
def test_where_weeks_months_and_years_begin(text: str, on: str, day: str) -> None:
    found = told(text, said=datetime.fromisoformat(on).replace(tzinfo=UTC))
    assert found is not None
    assert found[0] == day


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
    "text",
    [
        "User sailed",
        "User sailed last weekend",
        "User sailed yesterday and last Friday",
        "User sailed until yesterday",
        "User has sailed since May",
        "User sailed two or three weeks ago",
        "User sailed almost two years ago",
        "User sailed in two days",  # how long it took
        "User sails on Friday",
        "User was sailing on Wednesday",  # today or a week ago
        "User moved to an office on the 3rd floor",
        "User sailed on 31 June",
        "User sailed the last week of May",
        "Wir waren hier",
    ],
)
def test_nothing_is_guessed_from_words_without_one_reading(text: str) -> None:
    assert told(text) is None


def test_the_sentence_counts_before_the_quote_and_the_quote_where_it_has_one_clause() -> None:
    two = replace(turn("I sold my car last year and I sail tomorrow"), occurred_at=WEDNESDAY)
    assert dated(event("User sails tomorrow.", two), turn=two).event_at == datetime(2025, 6, 5, tzinfo=UTC)
    assert dated(event("User sails.", two), turn=two).event_at is None
    later = replace(turn("I bought a boat and yesterday I sold my car"), occurred_at=WEDNESDAY)
    assert dated(event("User bought a boat.", later), turn=later).event_at is None


def test_without_a_time_of_the_turn_only_what_names_its_year_is_dated() -> None:
    assert told("User sailed yesterday", said=None) is None
    assert told("User sailed in May", said=None) is None
    assert told("User sailed in May 2019", said=None) == ("2019-05-01", "month")


def test_what_is_no_event_and_what_an_extractor_has_dated_stay() -> None:
    source = replace(turn("I sailed yesterday"), occurred_at=WEDNESDAY)
    assert dated(candidate("x", source=source), turn=source).event_at is None
    known = candidate("x", source=source, type=MemoryType.EVENT, event_at=WEDNESDAY)
    assert dated(known, turn=source) == known


@given(st.datetimes(min_value=datetime(1900, 1, 2), max_value=datetime(2400, 1, 1)), st.sampled_from(PHRASES))  # noqa: DTZ001
def test_any_phrase_on_any_day_is_read_or_left(said: datetime, phrase: str) -> None:
    told(f"User sailed {phrase}", said=said.replace(tzinfo=UTC))
