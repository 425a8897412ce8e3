"""A sentence that another one says in passing is not stored as a memory; near misses are."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from apps.pipeline.core.enums import MemoryType, Polarity, Precision, SpeechAct
from apps.pipeline.core.statement import ObjectValue, StoredMemory
from apps.pipeline.deduplication.containment import is_said_in_passing, tells_event_less_exactly
from apps.pipeline.deduplication.event_periods import may_be_one_time
from tests.pipeline.builders import candidate, known, turn

SOURCE = turn("so it was said")


def stored(content: str, **changes: Any) -> StoredMemory:
    return known(candidate(content, source=SOURCE, **changes), memory_id=UUID(int=1), source=SOURCE)


@pytest.mark.parametrize(
    ("less", "fuller"),
    [
        ("Pavel is User's husband.", "Pavel, User's husband, does not tolerate lactose."),
        ("Lena is User's sister.", "User's sister Lena lives in York."),
        ("User's sister is Lena.", "Lena, User's sister, lives in York."),
        ("Dr. Wehrle is User's cardiologist.", "Dr. Wehrle, User's cardiologist, practises in Bonn."),
        ("User has a dog called Biscuit.", "Biscuit, User's dog, is a four-year-old beagle."),
        ("User has a donor card.", "User's blood group is A according to User's donor card."),
        ("User has a car.", "User's car is green."),
    ],
)
def test_who_somebody_is_is_said_in_passing(less: str, fuller: str) -> None:
    assert is_said_in_passing(stored(less), by=stored(fuller))
    assert not is_said_in_passing(stored(fuller), by=stored(less))


@pytest.mark.parametrize(
    ("less", "fuller"),
    [
        ("Lena is User's sister.", "Lena, User's colleague, is allergic to dogs."),
        ("Lena is User's sister.", "Lena, Tom's sister, lives in York."),
        ("Lena is User's friend.", "Lena, User's friend's sister, lives in York."),
        ("Mark is Tom's boss.", "Tom, Mark's boss, likes tea."),
        ("User has a car.", "User's car insurance is due in May."),
        ("User has a dog.", "User's dog Rex's vet lives in York."),
        ("Lena is User's sister.", "User's sister is Lena."),
        ("User likes tea.", "User likes tea and scones."),
        ("Maria's rent is 950 euros a month.", "Maria's rent was 950 euros a month until March."),
        ("User's cat is afraid of User's dog.", "User's dog is afraid of User's cat."),
    ],
)
def test_what_says_something_of_its_own_stays(less: str, fuller: str) -> None:
    assert not is_said_in_passing(stored(less), by=stored(fuller))


@pytest.mark.parametrize(
    "changes",
    [
        {"type": MemoryType.EVENT},
        {"speech_act": SpeechAct.QUOTED},
        {"valid_until": datetime(2030, 1, 1, tzinfo=UTC)},
        {"tags": ("constraint",)},
    ],
)
def test_only_a_lasting_plain_statement_stands_for_another(changes: dict[str, Any]) -> None:
    fuller = stored("Lena, User's sister, stays with User.", **changes)
    assert not is_said_in_passing(stored("Lena is User's sister."), by=fuller)


def test_a_denial_is_no_introduction() -> None:
    denied = stored("Lena is User's sister.", polarity=Polarity.NEGATIVE)
    assert not is_said_in_passing(denied, by=stored("Lena, User's sister, lives in York."))


def event(content: str, at: str, precision: Precision = Precision.DAY) -> StoredMemory:
    moment = datetime.fromisoformat(at).replace(tzinfo=UTC)
    return stored(content, type=MemoryType.EVENT, event_at=moment, event_precision=precision)


@pytest.mark.parametrize(
    ("one", "two", "overlap"),
    [
        (("2026-05-23", Precision.DAY), ("2026-05-01", Precision.MONTH), True),
        (("2026-05-23", Precision.DAY), ("2026-01-01", Precision.YEAR), True),
        (("2026-05-23", Precision.DAY), ("2026-05-24", Precision.DAY), False),
        (("2026-05-23T09:00", Precision.INSTANT), ("2026-05-23", Precision.DAY), True),
        (("2026-05-23", Precision.DAY), ("2026-06-01", Precision.MONTH), False),
        (("2026-05-18", Precision.WEEK), ("2026-05-24", Precision.DAY), True),
        (("2026-05-18", Precision.WEEK), ("2026-05-25", Precision.DAY), False),
    ],
)
def test_times_are_compared_as_exactly_as_they_are_known(
    one: tuple[str, Precision], two: tuple[str, Precision], overlap: bool
) -> None:
    assert may_be_one_time(event("A.", *one), event("B.", *two)) is overlap
    assert may_be_one_time(event("B.", *two), event("A.", *one)) is overlap


@pytest.mark.parametrize(
    ("less", "fuller", "is_one"),
    [
        (("User visits Lisbon in May 2026.", "2026-05-01", Precision.MONTH),
         ("User visits Lisbon with Ana on 23 May 2026.", "2026-05-23", Precision.DAY), True),
        (("User visits Lisbon in May 2026.", "2026-05-01", Precision.MONTH),
         ("User visits Lisbon on 2 June 2026.", "2026-06-02", Precision.DAY), False),
        (("User visits Lisbon in May 2026.", "2026-05-01", Precision.MONTH),
         ("User visits Porto on 23 May 2026.", "2026-05-23", Precision.DAY), False),
        (("User visits Lisbon in May 2026.", "2026-05-01", Precision.MONTH),
         ("User does not visit Lisbon on 23 May 2026.", "2026-05-23", Precision.DAY), False),
    ],
)  # fmt: skip
def test_a_vague_telling_of_an_event_is_held_by_an_exact_one(
    less: tuple[str, str, Precision], fuller: tuple[str, str, Precision], is_one: bool
) -> None:
    assert tells_event_less_exactly(event(*less), event(*fuller)) is is_one


def _about(food: str, predicate: str, polarity: Polarity) -> StoredMemory:
    value = ObjectValue(literal=food)
    return stored(f"User {predicate} {food}.", predicate=predicate, object=value, polarity=polarity)


@pytest.mark.parametrize(
    ("food", "predicate", "polarity", "expected"),
    [
        ("penicillin", "can_have", Polarity.NEGATIVE, True),
        ("have penicillin", "must_not", Polarity.NEGATIVE, True),
        ("penicillin", "can_have", Polarity.POSITIVE, False),
        ("codeine", "can_have", Polarity.NEGATIVE, False),
    ],
)
def test_an_allergy_says_what_one_cannot_have(food: str, predicate: str, polarity: Polarity, expected: bool) -> None:
    allergy = _about("penicillin", "allergic_to", Polarity.POSITIVE)
    denial = _about(food, predicate, polarity)
    assert is_said_in_passing(denial, by=allergy) is expected
    assert not is_said_in_passing(allergy, by=denial)
