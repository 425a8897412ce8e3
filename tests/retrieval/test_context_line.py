"""A line of the context block: a plain sentence with its doubts, its date and what contradicts it."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from apps.memories.models import Memory
from apps.memories.models.memory import is_past_plan
from apps.pipeline.core.enums import NOTE, MemoryType, Precision, SourceConfidence, Status
from apps.retrieval.lines import Wording, line_of, plain_sentence

SAID = datetime(2024, 5, 4, tzinfo=UTC)
NOW = datetime(2024, 6, 1, tzinfo=UTC)
LATER = datetime(2024, 10, 30, tzinfo=UTC)


def known(content: str, **values: Any) -> Memory:
    given = {"type": MemoryType.FACT, "content": content, "said_at": SAID, "valid_from": SAID}
    return Memory(**{"id": UUID(int=1), **given, **values})


def line(memory: Memory, others: list[Memory] | None = None) -> str:
    disputes = {} if others is None else {memory.id: others}
    return line_of(memory, Wording(now=NOW, user_name="Marta Ruiz", disputes=disputes))


APPROVED = {"confidence_parts": {"review": 0.6}, "confidence": 0.9}
UNCERTAIN = {"confidence_parts": {"review": 0.6}, "confidence": 0.55}  # as a person has kept it
LINZ = known("User lives in Linz.", id=UUID(int=2), said_at=NOW, status=Status.PENDING_REVIEW)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ({}, "Lives in Graz."),
        ({"status": Status.PENDING_REVIEW}, "Lives in Graz. (unconfirmed)"),
        ({"source_confidence": SourceConfidence.SPECULATED}, "Lives in Graz. (uncertain)"),
        ({"source_confidence": SourceConfidence.INFERRED}, "Lives in Graz. (inferred)"),
        ({"source_confidence": SourceConfidence.INFERRED, **APPROVED}, "Lives in Graz."),
        ({"source_confidence": SourceConfidence.SPECULATED, **UNCERTAIN}, "Lives in Graz. (uncertain)"),
        ({"valid_from": SAID}, "Lives in Graz."),
        ({"valid_from": LATER}, "Lives in Graz. (from 30 October 2024)"),
        ({"valid_until": LATER}, "Lives in Graz. (until 30 October 2024)"),
        (
            {"content": "User has lived in Graz since 2019.", "valid_until": LATER},
            "Has lived in Graz since 2019. (until 30 October 2024)",
        ),
        (
            {"content": "User stays in Graz until autumn 2024.", "valid_until": LATER},
            "Stays in Graz until autumn 2024.",
        ),
        ({"content": "User moved to Graz last week."}, "Moved to Graz last week. (said 4 May 2024)"),
        ({"tags": [NOTE]}, "\u201cUser lives in Graz.\u201d (said 4 May 2024)"),
    ],
)
def test_a_sentence_with_its_doubts(values, wanted) -> None:
    assert line(known(**{"content": "User lives in Graz.", **values})) == wanted


@pytest.mark.parametrize(
    ("others", "wanted"),
    [
        ([], "disputed: Lives in Graz. (said 4 May 2024)"),
        (
            [LINZ],
            "disputed: Lives in Graz. (said 4 May 2024); also said: Lives in Linz. (said 1 June 2024, unconfirmed)",
        ),
    ],
)
def test_a_disputed_sentence_with_the_other_side(others, wanted) -> None:
    assert line(known("User lives in Graz."), others) == wanted


@pytest.mark.parametrize(
    ("values", "is_past"),
    [
        ({}, True),
        ({"event_precision": Precision.MONTH}, False),  # not over yet
        ({"recurrence": 2}, False),  # perhaps confirmed
        ({"said_at": datetime(2024, 5, 22, tzinfo=UTC)}, False),  # told afterwards
        ({"event_at": LATER}, False),
        ({"event_at": None}, False),
    ],
)
def test_a_plan_whose_time_has_passed(values: dict[str, Any], is_past: bool) -> None:
    said_at, event_at = datetime(2024, 5, 4, tzinfo=UTC), datetime(2024, 5, 20, tzinfo=UTC)
    plan = Memory(**{"said_at": said_at, "event_at": event_at, **values})
    assert is_past_plan(plan, now=NOW) == is_past


def test_a_past_plan_is_told_as_a_plan() -> None:
    plan = known(
        "User flies to Lima on 20 May 2024.", type=MemoryType.EVENT, event_at=datetime(2024, 5, 20, tzinfo=UTC)
    )
    assert line(plan) == "Flies to Lima on 20 May 2024. (was planned)"


@pytest.mark.parametrize(
    ("content", "is_rule", "wanted"),
    [
        ("User lives in Lyon.", False, "Lives in Lyon."),
        ("User's sister is Lena.", False, "User's sister is Lena."),
        ("Users like it.", False, "Users like it."),
        ("User wants the assistant to test code it writes.", True, "Wants the assistant to test code it writes."),
        ("User wants the assistant to never send marketing mails.", True, "Never send marketing mails."),
        ("User wants the assistant not to use emojis.", True, "Never use emojis."),
        ("Marta Ruiz asks the assistant to always answer in French.", True, "Always answer in French."),
        ("Always answer in metric units.", True, "Always answer in metric units."),
        ("User wants the assistant to answer briefly.", False, "Wants the assistant to answer briefly."),
        ("Two\nlines  of text.", False, "Two lines of text."),
    ],
)
def test_plain_sentences(content, is_rule, wanted) -> None:
    assert plain_sentence(content, user_name="Marta Ruiz", is_rule=is_rule) == wanted


@pytest.mark.parametrize(
    "content",
    [
        "User moves to Graz on 30 October 2024.",
        "User moves to Graz in autumn 2024.",
    ],
)
def test_a_date_of_the_sentence_is_not_repeated(content) -> None:
    moved = known(content, type=MemoryType.EVENT, event_at=LATER, valid_from=LATER)
    assert line(moved) == plain_sentence(content)


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
    assert line(sailed) == f"Sailed. ({date})"


def test_an_event_without_a_time_says_when_it_was_said() -> None:
    assert line(known("User sailed.", type=MemoryType.EVENT)) == "Sailed. (said 4 May 2024)"
