"""A proposal of an extractor is followed only if two statements have more in common than their subject."""

from uuid import UUID

import pytest

from apps.pipeline.core.canonical import canonical_hash
from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import EntityType
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.deduplication.proposals import ProposalRefusal, refused_proposals
from tests.pipeline.builders import candidate, draft_of, known, resolved, turn

NADIA, OLD = UUID(int=50), UUID(int=99)
THEN, NOW = turn("said before", position=0, day=0), turn("said now", position=1, day=30)


def before(content: str, **changes: object) -> StoredMemory:
    told = candidate(content, source=THEN, **changes)
    return known(resolved(told, subject_id=NADIA), memory_id=OLD, source=THEN)


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
    ("told", "refusal"),
    [
        ("Kim is the head User works under since May.", "unrelated"),
        ("Kim rides horses with User.", "other_subject"),
    ],
)
def test_another_holder_of_a_post_is_for_a_judge(told: str, refusal: str) -> None:
    kim, ola = UUID(int=51), UUID(int=52)
    former = candidate("Ola is the head User works under.", source=THEN)
    old = known(resolved(former, subject_id=ola), memory_id=OLD, source=THEN)
    fresh = resolved(candidate(told, source=NOW), subject_id=kim).evolve(replaces=(OLD,))
    people = [KnownEntity(id=id, name=name, type=EntityType.PERSON) for id, name in ((kim, "Kim"), (ola, "Ola"))]
    draft = draft_of([fresh], turns=[THEN, NOW]).evolve(entities=tuple(people))
    (refused,) = refused_proposals(draft, fresh, named={OLD: old})
    assert refused.reason.value == refusal
