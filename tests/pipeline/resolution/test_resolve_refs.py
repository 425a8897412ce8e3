"""resolve_refs gives every mention an entity, rewrites sentences with names, and drops unresolved references."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import EntityType, MemoryType, Polarity, SpeechAct
from apps.pipeline.core.statement import Candidate, Mention, ObjectValue
from apps.pipeline.core.turn import SourceTurn
from tests.pipeline.builders import MONDAY, SPEAKER, candidate, person, turn
from tests.pipeline.resolution.known_people import BOB, LENA, USER, resolve


def relation(name: str, predicate: str, *, source: SourceTurn, **changes: object) -> Candidate:
    noun = predicate.removesuffix("_of")
    return candidate(
        f"{name} is User's {noun}.",
        source=source,
        type=MemoryType.RELATION,
        subject=person(name),
        predicate=predicate,
        entity=SPEAKER,
        **changes,
    )


@pytest.mark.parametrize(
    ("text", "mention", "content", "expected", "rule"),
    [
        ("I like tea.", SPEAKER, "User likes tea.", "User likes tea.", "speaker"),
        ("Lena likes tea.", Mention("Lena"), "Lena likes tea.", "Lena likes tea.", "alias"),
        ("lena likes tea.", person("lena"), "lena likes tea.", "Lena likes tea.", "alias"),
        ("Lena called. She likes tea.", Mention("She"), "She likes tea.", "Lena likes tea.", "pronoun"),
        ("Lena and Tom came. She likes tea.", Mention("She"), "She likes tea.", "Lena likes tea.", "pronoun"),
        ("Tom rang. Bob called. He likes tea.", Mention("He"), "He likes tea.", "Bob likes tea.", "pronoun"),
        ("I joined Arrive. It makes vans.", Mention("It"), "It makes vans.", "Arrive makes vans.", "pronoun"),
        ("My manager likes tea.", Mention("my manager"), "My manager likes tea.", "Bob likes tea.", "description"),
        ("The company grew.", Mention("the company"), "The company grew.", "Arrive grew.", "description"),
        ("Lena's dog barks.", Mention("Lena's dog"), "Lena's dog barks.", "Lena's dog barks.", "new_description"),
        ("Arrive GmbH makes vans.", Mention("Arrive GmbH"), "Arrive GmbH makes vans.", "Arrive makes vans.", "alias"),
        ("Samantha likes tea.", person("Samantha"), "Samantha likes tea.", "Samantha likes tea.", "new"),
    ],
)  # fmt: skip
def test_a_subject_is_settled_by_one_rule(text: str, mention: Mention, content: str, expected: str, rule: str) -> None:
    source = turn(text)
    given = candidate(content, source=source, subject=mention, evidence=text.split(". ")[-1])
    draft = resolve([given], turns=[source])
    assert [each.content for each in draft.candidates] == [expected]
    assert draft.candidates[0].subject.entity_id is not None
    assert draft.details["rules"]["0"][mention.text] == rule


def test_the_user_is_made_once_and_named_when_the_name_is_told() -> None:
    source = turn("I live in Rome and my name is Ana.")
    home = candidate("User lives in Rome.", source=source)
    name = candidate("User's name is Ana.", source=source, predicate="name", value="Ana")
    draft = resolve([home, name], turns=[source], known=())
    assert [each.content for each in draft.candidates] == ["Ana lives in Rome.", "User's name is Ana."]
    assert [(each.name, each.aliases, each.is_user) for each in draft.new_entities] == [("Ana", ("User",), True)]


def test_a_told_name_renames_the_known_user_and_what_hangs_on_it() -> None:
    nameless = KnownEntity(id=UUID(int=60), name="User's boss", type=EntityType.PERSON, aliases=("User's boss",))
    source = turn("My name is Ana.")
    name = candidate("User's name is Ana.", source=source, predicate="name", value="Ana")
    draft = resolve([name], turns=[source], known=(USER, nameless))
    assert dict(draft.renamed) == {USER.id: "Ana", nameless.id: "Ana's boss"}


def test_a_hypothetical_name_renames_nobody() -> None:
    source = turn("Pretend my name is Zorro.")
    name = candidate(
        "User's name is Zorro.", source=source, predicate="name", value="Zorro", speech_act=SpeechAct.ROLEPLAY
    )
    assert resolve([name], turns=[source]).renamed == ()


def test_a_named_speaker_is_a_person_of_that_name() -> None:
    source = turn("I paint.", speaker="Melanie")
    given = candidate("Melanie paints.", source=source, subject=Mention("Melanie", EntityType.PERSON, is_speaker=True))
    draft = resolve([given], turns=[source], known=())
    assert [(each.name, each.is_user) for each in draft.new_entities] == [("Melanie", False)]


def test_a_nameless_manager_gets_the_name_that_is_told_later() -> None:
    first, second = turn("My boss hates noise."), turn("My boss Priya left.", position=1)
    complaint = candidate("My boss hates noise.", source=first, subject=Mention("my boss"))
    draft = resolve([complaint, relation("Priya", "boss_of", source=second)], turns=[first, second], known=(USER,))
    assert [each.content for each in draft.candidates] == ["Priya hates noise.", "Priya is User's boss."]
    assert [each.name for each in draft.new_entities] == ["Priya"]


def test_a_new_manager_takes_the_description_over() -> None:
    source = turn("Omar is my manager now. My manager likes tea.")
    told = candidate("My manager likes tea.", source=source, subject=Mention("my manager"))
    draft = resolve([told, relation("Omar", "manager_of", source=source)], turns=[source])
    omar = next(each for each in draft.new_entities if each.name == "Omar")
    assert draft.candidates[0].content == "Omar likes tea."
    assert draft.moved_aliases == ((omar.id, "User's manager"),)


@pytest.mark.parametrize(
    ("changes", "mentioned_later"),
    [
        ({"polarity": Polarity.NEGATIVE}, False),
        ({"speech_act": SpeechAct.HYPOTHETICAL}, False),
        ({}, True),
    ],
)
def test_a_description_stays_with_its_holder(changes: dict[str, object], mentioned_later: bool) -> None:
    source = turn("Omar is my manager.")
    later = MONDAY + timedelta(days=30) if mentioned_later else None
    holder = replace(BOB, last_mentioned_at=later)
    draft = resolve([relation("Omar", "manager_of", source=source, **changes)], turns=[source], known=(USER, holder))
    assert draft.moved_aliases == ()


def test_namesakes_of_different_kin_stay_two() -> None:
    first, second = turn("My brother Sam is here."), turn("My colleague Sam is there.", position=1)
    both = [relation("Sam", "brother_of", source=first), relation("Sam", "colleague_of", source=second)]
    draft = resolve(both, turns=[first, second], known=(USER,))
    assert sorted(each.aliases for each in draft.new_entities) == [("User's brother",), ("User's colleague",)]


def test_a_bare_name_of_two_people_is_a_tie() -> None:
    sams = tuple(
        KnownEntity(id=UUID(int=70 + place), name="Sam", type=EntityType.PERSON, aliases=(alias,))
        for place, alias in enumerate(("User's brother", "User's colleague"))
    )
    source = turn("Sam likes chess.")
    given = candidate("Sam likes chess.", source=source, subject=person("Sam"))
    draft = resolve([given], turns=[source], known=(USER, *sams))
    assert [drop.detail["rules"]["Sam"] for drop in draft.drops] == ["tie"]


def test_a_first_name_finds_the_only_full_name() -> None:
    rao = KnownEntity(id=UUID(int=80), name="Priya Rao", type=EntityType.PERSON)
    source = turn("Priya likes chess.")
    given = candidate("Priya likes chess.", source=source, subject=person("Priya"))
    assert resolve([given], turns=[source], known=(USER, rao)).candidates[0].subject.entity_id == rao.id


@pytest.mark.parametrize(
    ("known", "said", "kind", "same"),
    [
        ("Sam", "Samantha", EntityType.PERSON, False),
        ("Daniel", "Daniela", EntityType.PERSON, False),
        ("Anna Smithson", "Hanna Smithson", EntityType.PERSON, False),
        ("Anna Schneider", "Anna Schneiders", EntityType.PERSON, True),
        ("José", "Jose", EntityType.PERSON, True),
        ("Kubernetes", "Kubernettes", EntityType.PRODUCT, True),
        ("Galaxy Phone 21", "Galaxy Phone 22", EntityType.PRODUCT, False),
        ("Niger", "Nigeria", EntityType.PLACE, False),
    ],
)
def test_close_spellings_are_one_only_where_that_is_safe(known: str, said: str, kind: EntityType, same: bool) -> None:
    entity = KnownEntity(id=UUID(int=90), name=known, type=kind)
    source = turn(f"{said} is great.")
    given = candidate(f"{said} is great.", source=source, subject=Mention(said, kind))
    draft = resolve([given], turns=[source], known=(USER, entity))
    assert (draft.candidates[0].subject.entity_id == entity.id) is same


def test_a_plain_object_stays_a_literal() -> None:
    source = turn("I visited the library.")
    given = candidate("User visited the library.", source=source, entity=Mention("the library"))
    assert resolve([given], turns=[source]).candidates[0].object == ObjectValue(literal="the library")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Tom lives in Rome.", "Tom"),
        ("User's sister lives in Rome.", "Lena"),
        ("Tom's flat is where Lena lives.", "Lena"),
        ("The twins live in Rome with Tom.", "Lena"),
    ],
)
def test_the_name_in_the_sentence_counts_before_the_id_of_another_entity(content: str, expected: str) -> None:
    source = turn("so it was said")
    given = candidate(content, source=source, subject=replace(person("Lena"), entity_id=LENA.id))
    assert resolve([given], turns=[source]).candidates[0].subject.text == expected


def test_a_thing_without_a_name_gets_the_one_that_is_told_later() -> None:
    first, second = turn("I have a dog."), turn("Bruma, my dog, steals butter.", position=1)
    has = candidate(
        "User has a dog.", source=first, type=MemoryType.RELATION, subject=SPEAKER, predicate="has_pet",
        entity=Mention("dog"),
    )  # fmt: skip
    steals = candidate("Bruma, User's dog, steals butter.", source=second, subject=Mention("Bruma"))
    draft = resolve([has, steals], turns=[first, second], known=(USER,))
    assert [each.name for each in draft.new_entities] == ["Bruma"]


def test_a_model_names_the_known_thing_that_had_no_name() -> None:
    dog = KnownEntity(id=UUID(int=61), name="User's dog", type=EntityType.ANIMAL, aliases=("User's dog",))
    bruma = KnownEntity(id=UUID(int=62), name="Bruma", type=EntityType.ANIMAL)
    source = turn("Bruma steals butter again.")
    by_id = Mention(dog.name, dog.type, entity_id=dog.id)
    name = candidate("User's dog is called Bruma.", source=source, subject=by_id, predicate="name", value="Bruma")
    assert dict(resolve([name], turns=[source], known=(USER, dog)).renamed) == {dog.id: "Bruma"}
    assert resolve([name], turns=[source], known=(USER, dog, bruma)).renamed == ()
