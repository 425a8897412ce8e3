"""A line of the context block: the sentence with its date, doubts and contradicting memories."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from apps.pipeline.core.enums import MemoryType, Polarity, Precision, SourceConfidence
from apps.retrieval.lines import ContextMemory, fact_line, sentence_line

SAID = datetime(2024, 5, 4, tzinfo=UTC)
NOW = datetime(2024, 6, 1, tzinfo=UTC)
LATER = datetime(2024, 10, 30, tzinfo=UTC)


def known(content: str, **values: Any) -> ContextMemory:
    return ContextMemory(**{"id": UUID(int=1), "type": MemoryType.FACT, "content": content, "said_at": SAID, **values})


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({}, "User lives in Graz. (said 4 May 2024)"),
        ({"is_unverified": True}, "User lives in Graz. (said 4 May 2024, unconfirmed)"),
        ({"source_confidence": SourceConfidence.SPECULATED}, "User lives in Graz. (said 4 May 2024, uncertain)"),
        ({"source_confidence": SourceConfidence.INFERRED}, "User lives in Graz. (said 4 May 2024, inferred)"),
        (
            {"source_confidence": SourceConfidence.INFERRED, "is_approved": True},
            "User lives in Graz. (said 4 May 2024)",
        ),
        ({"valid_from": SAID}, "User lives in Graz. (said 4 May 2024)"),
        ({"valid_from": LATER}, "from 30 October 2024: User lives in Graz. (said 4 May 2024)"),
        ({"valid_until": LATER}, "User lives in Graz. (said 4 May 2024, until 30 October 2024)"),
        ({"is_disputed": True}, "disputed: User lives in Graz. (said 4 May 2024)"),
        (
            {"is_disputed": True, "contradicted_by": (known("User lives in Linz.", said_at=NOW, is_unverified=True),)},
            "disputed: User lives in Graz. (said 4 May 2024); also said: User lives in Linz."
            " (said 1 June 2024, unconfirmed)",
        ),
    ],
)  # fmt: skip
def test_a_sentence_with_its_date_and_doubts(values, line) -> None:
    assert sentence_line(known("User lives in Graz.", **values), now=NOW) == line


@pytest.mark.parametrize(
    ("precision", "date"),
    [
        (Precision.INSTANT, "on 1 January 2024"),
        (Precision.DAY, "on 1 January 2024"),
        (Precision.WEEK, "week of 1 January 2024"),
        (Precision.MONTH, "in January 2024"),
        (Precision.QUARTER, "in the quarter from January 2024"),
        (Precision.YEAR, "in 2024"),
    ],
)
def test_an_event_is_dated_no_more_exactly_than_is_known(precision, date) -> None:
    when = datetime(2024, 1, 1, tzinfo=UTC)
    sailed = known("User sailed.", type=MemoryType.EVENT, event_at=when, event_precision=precision)
    assert sentence_line(sailed, now=NOW) == f"User sailed. ({date})"


def test_an_event_without_a_time_says_when_it_was_said() -> None:
    assert sentence_line(known("User sailed.", type=MemoryType.EVENT), now=NOW) == "User sailed. (said 4 May 2024)"


@pytest.mark.parametrize(
    ("content", "values", "line"),
    [
        ("User lives in Oslo.", {"predicate": "lives_in", "object_text": "Oslo"}, "lives_in = Oslo"),
        ("User is a nurse.", {"predicate": "works_as", "object_text": "nurse"}, "works_as = nurse"),
        ("User works as a nurse.", {"predicate": "works_as", "object_text": "a nurse"}, "works_as = a nurse"),
        ("User's birthday is on 14 June.", {"predicate": "birthday", "object_text": "14 June"}, "birthday = 14 June"),
        (
            "Priya works at Acme.",
            {"predicate": "works_at", "object_text": "Acme", "subject": "Priya"},
            "Priya.works_at = Acme",
        ),
        ("User lives in Oslo until May.", {"predicate": "lives_in", "object_text": "Oslo"}, None),
        ("User may live in Oslo.", {"predicate": "lives_in", "object_text": "Oslo"}, None),
        ("User lives in Oslo.", {"predicate": "lives_in", "object_text": "Oslo", "is_disputed": True}, None),
        ("User lives in Oslo.", {"predicate": "lives_in", "object_text": "Oslo", "polarity": Polarity.NEGATIVE}, None),
        ("User uses tabs.", {"predicate": "uses", "object_text": "tabs"}, None),
        ("User lives in Oslo.", {"predicate": "lives_in"}, None),
        ("User lives in Oslo.", {}, None),
    ],
)
def test_a_triple_only_where_it_says_everything(content, values, line) -> None:
    assert fact_line(known(content, **values), now=NOW) == (line and f"{line} (said 4 May 2024)")


def test_a_triple_keeps_dates_and_doubts() -> None:
    graz = known("User lives in Graz.", predicate="lives_in", object_text="Graz", valid_from=LATER, is_unverified=True)
    assert fact_line(graz, now=NOW) == "from 30 October 2024: lives_in = Graz (said 4 May 2024, unconfirmed)"
