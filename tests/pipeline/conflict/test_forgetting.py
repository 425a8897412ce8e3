"""What a request to forget does with known memories and with what the same trace tells."""

from dataclasses import replace
from uuid import UUID

import pytest

from apps.memories.reading.in_memory_store import InMemoryStore
from apps.pipeline.conflict import conflict
from apps.pipeline.conflict.forgetting import named_by
from apps.pipeline.core.draft import Draft, KnownEntity, Ruling
from apps.pipeline.core.enums import EntityType, Reason, Status
from apps.pipeline.core.operations import ReviseMemory
from apps.pipeline.core.plan import plan_from
from apps.pipeline.core.statement import Mention, ObjectValue, StoredMemory
from apps.pipeline.extraction.forget_requests import with_forget_requests
from tests.pipeline.builders import candidate, draft_of, known, ports_of, resolved, turn

ANA, ELM = UUID(int=50), UUID(int=51)
USER = KnownEntity(id=ANA, name="User", type=EntityType.PERSON, is_user=True)
STREET = KnownEntity(id=ELM, name="5 Elm Street", type=EntityType.PLACE)
ADDRESS = "My address is 5 Elm Street."


def asking(*texts: str) -> Draft:
    """Return a draft whose first turn tells an address, in a new entity, as dedupe leaves it."""
    turns = [turn(text, position=place) for place, text in enumerate(texts)]
    place = Mention(text="5 Elm Street", type=EntityType.PLACE, entity_id=ELM)
    told = candidate("User's address is 5 Elm Street.", source=turns[0], predicate="address", evidence=ADDRESS)
    draft = draft_of([resolved(told.evolve(object=ObjectValue(entity=place)), subject_id=ANA)], turns=turns)
    ruling = Ruling(candidate=draft.candidates[0], memory_id=UUID(int=500), rule="new")
    return with_forget_requests(draft.evolve(rulings=(ruling,), new_entities=(USER, STREET)))


def decided(draft: Draft) -> Draft:
    return conflict.run(draft, ports_of(InMemoryStore()))


def home(status: Status) -> StoredMemory:
    told = turn("I live in Lyon.")
    lives = candidate("User lives in Lyon.", source=told, predicate="lives_in", value="Lyon", evidence=told.content)
    memory = known(resolved(lives, subject_id=ANA), memory_id=UUID(int=90), source=told)
    return replace(memory, status=status)


@pytest.mark.parametrize("texts", [(ADDRESS, "Please forget my address."), (f"{ADDRESS} Please forget my address.",)])
def test_what_is_told_before_the_request_is_dropped_with_its_entity(texts: tuple[str, ...]) -> None:
    draft = decided(asking(*texts))
    assert (draft.rulings, draft.candidates, draft.new_entities) == ((), (), (USER,))
    assert [each.reason for each in draft.drops] == [Reason.ASKED_TO_FORGET]
    assert draft.details == {"forget_requests": 1, "forgotten": 0, "taken_back": 1, "asked_to_forget": 0}


def test_what_is_told_after_the_request_stays() -> None:
    draft = decided(asking(f"Please forget my address. {ADDRESS}"))
    assert [each.review_reasons for each in draft.rulings] == [()]
    assert draft.new_entities == (USER, STREET)


def test_what_may_be_meant_waits() -> None:
    draft = decided(asking(ADDRESS, "Forget my address! Let's go."))
    assert [each.review_reasons for each in draft.rulings] == [(Reason.ASKED_TO_FORGET,)]


@pytest.mark.parametrize(
    ("text", "status", "is_named", "is_doubted"),
    [
        ("Please forget my address.", Status.ACTIVE, True, False),
        ("Please forget my address.", Status.PENDING_REVIEW, True, False),
        ("Forget my address! Let's go.", Status.ACTIVE, False, True),
        ("Forget my address! Let's go.", Status.PENDING_REVIEW, False, False),
    ],
)
def test_what_waits_already_is_not_doubted(text: str, status: Status, is_named: bool, is_doubted: bool) -> None:
    (request,) = asking(text).forget_requests
    assert named_by(request, [home(status)], user=ANA) == (
        [home(status)] if is_named else [],
        [home(status)] if is_doubted else [],
    )


def test_a_word_that_only_begins_alike_is_for_a_person() -> None:
    (request,) = asking("Please forget my contract.").forget_requests
    pills = replace(home(Status.ACTIVE), content="User takes contraceptives.", predicate="takes_medication")
    assert named_by(request, [pills], user=ANA) == ([], [pills])


@pytest.mark.parametrize(
    ("status", "changes"),
    [
        (Status.ACTIVE, {"status": Status.RETRACTED, "review_reasons": ["asked_to_forget"]}),
        (Status.PENDING_REVIEW, {"status": Status.RETRACTED}),
    ],
)
def test_what_waited_keeps_its_reasons_when_it_is_retracted(status: Status, changes: dict[str, object]) -> None:
    draft = draft_of([], turns=[turn("Please forget my address.")]).evolve(forgotten=(home(status),))
    (operation,) = plan_from(draft).operations
    assert isinstance(operation, ReviseMemory)
    assert operation.changes == changes
