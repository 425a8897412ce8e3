"""Duplicates of a directly written memory among the live ones, and values in its slot."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from apps.pipeline.conflict.slots import duplicate_of, end_before, in_slot
from apps.pipeline.core.enums import MemoryType, Polarity, Role, SpeechAct, Status
from apps.pipeline.core.statement import Mention, ObjectValue, StoredMemory
from tests.pipeline.builders import MONDAY

ANA, BO = UUID(int=11), UUID(int=12)


def day(number: int) -> datetime:
    return MONDAY + timedelta(days=number)


def known(number: int, place: str = "Lisbon", **changes: Any) -> StoredMemory:
    """A value of lives_in, said on the given day."""
    value = StoredMemory(
        id=UUID(int=number), version=1, type=MemoryType.FACT, status=Status.ACTIVE, subject=Mention("", entity_id=ANA),
        predicate="lives_in", object=ObjectValue(literal=place), content=f"Ana lives in {place}.", canonical_hash=place,
        polarity=Polarity.POSITIVE, stateful=True, confidence=0.9, role=Role.USER, said_at=day(number),
        valid_from=day(number),
    )  # fmt: skip
    return replace(value, **changes)


@pytest.mark.parametrize(
    ("changes", "is_twin"),
    [
        ({}, True),
        ({"content": "ana LIVES in Lisbon"}, True),
        ({"content": "Ana lives in Lisbon, in Alfama."}, True),
        ({"canonical_hash": "of its own"}, True),
        ({"canonical_hash": "of its own", "content": "Lisbon is Ana's home."}, False),
        ({"content": "Ana doesn't live in Lisbon."}, False),
        ({"subject": Mention("", entity_id=BO)}, False),
        ({"speech_act": SpeechAct.ROLEPLAY}, False),
        ({"valid_until": day(9)}, False),
    ],
)
def test_a_twin_says_the_same_of_the_same_time(changes: dict[str, Any], is_twin: bool) -> None:
    assert (duplicate_of(known(2), [known(1, **changes)]) is not None) is is_twin


@pytest.mark.parametrize(
    ("said", "rivals", "successor", "closes"),
    [
        (5, [], None, []),
        (5, [known(1)], None, [1]),
        (5, [known(1), known(2)], None, [1, 2]),
        (5, [known(9), known(7)], 7, []),
        (5, [known(1, status=Status.PENDING_REVIEW)], None, []),
        (5, [known(1, polarity=Polarity.NEGATIVE)], None, []),
        (5, [known(1, type=MemoryType.EVENT)], None, []),
        (5, [known(1, subject=Mention("", entity_id=BO))], None, []),
        (5, [known(1, evidence="I also live there")], None, []),
        (5, [known(9, valid_until=day(3))], None, [9]),  # said later, but ended long before
    ],
)
def test_the_value_said_last_is_left(
    said: int, rivals: list[StoredMemory], successor: int | None, closes: list[int]
) -> None:
    changes, closed = in_slot(known(said, "Porto"), {}, live=rivals)
    assert changes.get("superseded_by_id") == (successor and UUID(int=successor))
    assert [each.memory_id.int for each in closed] == closes


def test_what_was_over_when_it_was_said_is_history() -> None:
    over = known(5, "Porto", valid_from=day(-9), valid_until=day(-3))
    history = {"status": Status.SUPERSEDED, "superseded_by_id": known(1).id, "valid_until": day(-3)}
    assert in_slot(over, {}, live=[known(1)]) == (history, [])
    assert in_slot(over, {}, live=[]) == ({}, [])


def test_no_time_runs_backwards() -> None:
    assert end_before(known(5), known(1)) == day(5)
    assert end_before(known(1), known(5)) == day(5)
