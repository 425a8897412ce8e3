"""Changes told in other words: diets, versions, and denials whose own sentence tells the new value."""

from dataclasses import replace
from uuid import UUID

import pytest

from apps.pipeline.conflict import conflict
from apps.pipeline.core.draft import Draft, Ruling
from apps.pipeline.core.enums import Polarity, Reason
from apps.pipeline.core.statement import Candidate, StoredMemory
from tests.pipeline.builders import candidate, draft_of, known, resolved, turn

ANA = UUID(int=50)
THEN, NOW = turn("then", position=0, day=0), turn("now", position=1, day=10)


def told(predicate: str, value: str, **changes: object) -> Candidate:
    content = f"Ana {predicate} {value}."
    return resolved(
        candidate(content, source=NOW, **{"predicate": predicate, "value": value, **changes}), subject_id=ANA
    )


def held(predicate: str, value: str, **changes: object) -> StoredMemory:
    each = told(predicate, value, **changes).evolve(source_turn_ids=(THEN.id,))
    return known(each, memory_id=UUID(int=90), source=THEN)


def decide(*candidates: Candidate, holders: tuple[StoredMemory, ...]) -> Draft:
    draft = draft_of(candidates, turns=(THEN, NOW))
    made = tuple(Ruling(candidate=each, memory_id=UUID(int=500 + each.index)) for each in draft.candidates)
    return conflict.decide(draft.evolve(rulings=made), holders=holders)


NO_MEAT = held("consumes", "meat since new year", polarity=Polarity.NEGATIVE)
VEGETARIAN = held("diet", "vegetarian", stateful=True)


@pytest.mark.parametrize(
    ("holder", "predicate", "value", "is_closed"),
    [
        (VEGETARIAN, "consumes", "fish", True),
        (VEGETARIAN, "consumes", "cheese", False),
        (held("diet", "vegan", stateful=True), "consumes", "cheese", True),
        (NO_MEAT, "consumes", "chicken", True),
        (NO_MEAT, "consumes", "salmon", False),
        (held("consumes", "fish"), "diet", "vegan", True),
        (held("uses", "Postgres 14"), "uses", "Postgres 17", True),
        (held("uses", "Postgres 14"), "uses", "Redis 7", False),
    ],
)
def test_what_ends_what(holder: StoredMemory, predicate: str, value: str, is_closed: bool) -> None:
    (ruling,) = decide(told(predicate, value), holders=(holder,)).rulings
    assert (ruling.supersedes == (holder,)) is is_closed


@pytest.mark.parametrize(
    ("value", "quote", "others", "is_closed"),
    [
        ("losartan", "called the doc and she swapped it for losartan", (), True),
        ("losartan", "they've taken me off those tablets and put me on losartan", (), True),
        ("losartan", "I'm on losartan now", (), False),  # perhaps beside the other one
        ("losartan", "she swapped it for losartan", ("ibuprofen",), False),  # nobody can say which of the two
        ("losartan", "I take losartan instead of sleeping pills", (), False),
        ("losartan", "I take losartan 50 mg instead", (), True),
        ("losartan", "I came off it and take losartan", (), True),
        # Something else was exchanged.
        ("vitamin D", "I moved to Berlin last month and I take vitamin D now.", (), False),
        ("losartan", "I moved to Leeds, and I take losartan as well.", (), False),
        ("losartan", "she moved me to losartan as well", (), False),
        ("vitamin D", "I switched to oat milk and take vitamin D.", (), False),
        ("melatonin", "I changed to nights so I take melatonin.", (), False),
        ("losartan", "I changed to a new doctor and she put me on losartan.", (), False),
        ("losartan", "I switched to a new pharmacy and I take losartan too.", (), False),
        ("donepezil", "My mum moved to a care home and takes donepezil.", (), False),
        ("ibuprofen", "I take ibuprofen, the doctor moved me to Monday instead.", (), False),
        ("ibuprofen", "I came off it badly from my bike, so I'm taking ibuprofen.", (), False),
    ],
)
def test_a_medicine_takes_the_place_of_the_only_other_one(
    value: str, quote: str, others: tuple[str, ...], is_closed: bool
) -> None:
    former = held("takes_medication", "lisinopril")
    beside = tuple(
        replace(held("takes_medication", each), id=UUID(int=91 + place)) for place, each in enumerate(others)
    )
    told_now = told("takes_medication", value, evidence=quote, extractor="patterns:takes_medicine")
    (ruling,) = decide(told_now, holders=(former, *beside)).rulings
    assert (former in ruling.supersedes) is is_closed


def test_a_medicine_takes_no_other_place_than_that_of_the_one_that_is_named() -> None:
    other = held("takes_medication", "simvastatin")
    ended = told(
        "takes_medication", "warfarin", polarity=Polarity.NEGATIVE, evidence="They have taken me off the warfarin."
    )
    taken = told("takes_medication", "apixaban", evidence="I'm on apixaban instead.", extractor="patterns:takes_dose")
    decided = decide(ended, taken, holders=(other,))
    assert [ruling.supersedes for ruling in decided.rulings] == [(), ()]


@pytest.mark.parametrize(
    ("former", "value", "quote", "is_closed"),
    [
        ("on call every third week", "on call every fourth week", "now I'm on call every fourth week", True),
        ("on call every third week", "on call every fourth week", "I'm on call every fourth week", False),
        ("on call every third week", "on call every third week in Denver", "now I'm on call in Denver", False),
        ("swimming twice a week", "running twice a week", "I'm running twice a week now", False),
        ("cleaning the house every day", "cleaning the house every week", "I clean the house every week", False),
        ("going to Spain every year", "going to Spain every weekend", "We go to Spain every weekend", False),
    ],
)
def test_another_frequency_replaces_the_former_where_it_changed(
    former: str, value: str, quote: str, is_closed: bool
) -> None:
    holder = held("is_on", former)
    (ruling,) = decide(told("is_on", value, evidence=quote), holders=(holder,)).rulings
    assert (ruling.supersedes == (holder,)) is is_closed


@pytest.mark.parametrize(
    ("former", "value", "quote", "is_closed"),
    [
        ("five coffees in a day", "only two coffees in the day", "I drink now only two coffees", True),
        ("five coffees in a day", "two coffees a day", "I drink two coffees", False),  # nothing says that it changed
        ("five coffees a day", "two teas a day", "I drink two teas a day now", False),
        ("five coffees a day", "two coffees a week", "I drink two coffees a week now", False),
    ],
)
def test_another_amount_of_one_thing_replaces_the_former(former: str, value: str, quote: str, is_closed: bool) -> None:
    holder = held("consumes", former)
    (ruling,) = decide(told("consumes", value, evidence=quote), holders=(holder,)).rulings
    assert (ruling.supersedes == (holder,)) is is_closed


def test_a_denial_is_dropped_where_its_sentence_tells_the_new_value() -> None:
    quote = "I no longer take ramipril, I take losartan now"
    old = held("takes_medication", "ramipril")
    denial = told("takes_medication", "ramipril", polarity=Polarity.NEGATIVE, evidence=quote)
    denial = denial.evolve(content="Ana no longer takes ramipril.")
    done = decide(denial, told("takes_medication", "losartan", evidence=quote), holders=(old,))
    (ruling,) = done.rulings
    assert (ruling.candidate.object.text, ruling.supersedes) == ("losartan", (old,))
    assert [drop.reason for drop in done.drops] == [Reason.DUPLICATE]


def test_a_denial_alone_stays() -> None:
    old = held("takes_medication", "ramipril")
    denial = told("takes_medication", "ramipril", polarity=Polarity.NEGATIVE, evidence="no longer on ramipril")
    (ruling,) = decide(denial.evolve(content="Ana no longer takes ramipril."), holders=(old,)).rulings
    assert ruling.supersedes == (old,)
