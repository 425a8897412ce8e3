"""A proposal of an extractor is followed only if two statements have more in common than their subject."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from apps.pipeline.core.canonical import canonical_hash
from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import EntityType, MemoryType
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.deduplication.proposals import ProposalRefusal, refusal_of_replacement, refused_proposals
from tests.pipeline.builders import candidate, draft_of, known, resolved, turn

NADIA, MOTHER, OLD = UUID(int=50), UUID(int=51), UUID(int=99)
THEN, NOW = turn("said before", position=0, day=0), turn("said now", position=1, day=30)
PEOPLE = tuple(KnownEntity(id=each, name=str(each), type=EntityType.PERSON) for each in (NADIA, MOTHER))


def before(content: str, *, subject_id: UUID = NADIA, **changes: object) -> StoredMemory:
    return known(
        resolved(candidate(content, source=THEN, **changes), subject_id=subject_id), memory_id=OLD, source=THEN
    )


@pytest.mark.parametrize(
    ("old", "new", "refusals"),
    [
        (before("Nadia is allergic to penicillin.", predicate="allergic_to"), "Nadia drinks tea daily.", ["unrelated"]),
        (before("Nadia pays 500 euros of rent for her flat.", predicate="rent"), "Nadia has a car.", ["unrelated"]),
        (before("Nadia plans to buy an old piano.", predicate="plans"), "Nadia bought a piano.", []),
    ],
)
def test_a_shared_subject_alone_closes_nothing(old: StoredMemory, new: str, refusals: list[str]) -> None:
    told = resolved(candidate(new, source=NOW, predicate="says"), subject_id=NADIA).evolve(replaces=(OLD,))
    draft = draft_of([told], turns=[THEN, NOW])
    assert [each.reason.value for each in refused_proposals(draft, told, named={OLD: old})] == refusals


@pytest.mark.parametrize("predicate", ["", "likes"])
def test_a_predicate_that_takes_many_values_relates_nothing(predicate: str) -> None:
    old = before("Nadia collects old stamps.", predicate=predicate)
    told = resolved(candidate("Nadia rides horses.", source=NOW, predicate=predicate), subject_id=NADIA)
    draft = draft_of([told.evolve(replaces=(OLD,))], turns=[THEN, NOW])
    (refused,) = refused_proposals(draft, draft.candidates[0], named={OLD: old})
    assert refused.reason is ProposalRefusal.UNRELATED


def test_a_value_without_a_predicate_makes_no_two_statements_one() -> None:
    hates, visited = (
        resolved(candidate(content, source=NOW, predicate="", value="Lisbon"), subject_id=NADIA)
        for content in ("Nadia hates Lisbon.", "Nadia visited Lisbon.")
    )
    assert canonical_hash(hates) != canonical_hash(visited)


@pytest.mark.parametrize(
    ("day", "refusal"),
    [
        (datetime(2024, 1, 2, tzinfo=UTC), ProposalRefusal.OTHER_SUBJECT),
        (NOW.said_at, None),
        (datetime(2040, 1, 1, tzinfo=UTC), ProposalRefusal.OTHER_SUBJECT),
    ],
)
def test_a_plan_of_another_person_is_closed_once_its_day_is_over(
    day: datetime, refusal: ProposalRefusal | None
) -> None:
    """A day before the plan was said is the day of something else."""
    plan = before("Nadia's mother lends her van for the move.", subject_id=MOTHER, type=MemoryType.EVENT, event_at=day)
    told = resolved(candidate("Nadia's move went as planned.", source=NOW), subject_id=NADIA)
    draft = draft_of([told], turns=[THEN, NOW]).evolve(entities=PEOPLE)
    assert refusal_of_replacement(draft, told, plan) is refusal


@pytest.mark.parametrize(
    ("new", "refusal"),
    [
        ("Mogli, Nadia's cat, won't go to Jonah, whose landlord allows no pets.", None),
        ("Mogli, Nadia's cat, has a new basket.", ProposalRefusal.OTHER_SUBJECT),
    ],
)
def test_a_plan_about_two_is_closed_by_a_statement_that_names_both(new: str, refusal: ProposalRefusal | None) -> None:
    jonah, mogli = (
        KnownEntity(id=UUID(int=60), name="Jonah", type=EntityType.PERSON),
        KnownEntity(id=UUID(int=61), name="Mogli", type=EntityType.ANIMAL),
    )
    plan = before("Jonah takes Nadia's cat Mogli for two months.", subject_id=jonah.id)
    told = resolved(candidate(new, source=NOW), subject_id=mogli.id)
    draft = draft_of([told], turns=[THEN, NOW]).evolve(entities=(jonah, mogli))
    assert refusal_of_replacement(draft, told, plan) is refusal
