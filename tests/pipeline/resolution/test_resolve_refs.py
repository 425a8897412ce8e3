"""resolve_refs gives every mention an entity, rewrites sentences with names, and drops unresolved references."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from hypothesis import given as tried_with
from hypothesis import strategies as st

from apps.pipeline.core.draft import Draft, KnownEntity
from apps.pipeline.core.enums import EntityType, MemoryType, Polarity, Reason, SpeechAct
from apps.pipeline.core.statement import Candidate, Mention, ObjectValue
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.resolution import resolve_refs
from apps.pipeline.resolution.pronouns import kind_of
from tests.pipeline.builders import MONDAY, SPEAKER, CountedIds, candidate, draft_of, person, turn

USER = KnownEntity(id=UUID(int=50), name="User", type=EntityType.PERSON, is_user=True)
LENA = KnownEntity(id=UUID(int=51), name="Lena", type=EntityType.PERSON, aliases=("User's sister",))
TOM = KnownEntity(id=UUID(int=52), name="Tom", type=EntityType.PERSON, aliases=("User's brother",))
BOB = KnownEntity(id=UUID(int=53), name="Bob", type=EntityType.PERSON, aliases=("User's manager",))
ARRIVE = KnownEntity(id=UUID(int=54), name="Arrive", type=EntityType.ORGANISATION, aliases=("User's company",))
FAMILY = (USER, LENA, TOM, BOB, ARRIVE)


def resolve(
    candidates: Sequence[Candidate],
    *,
    turns: Sequence[SourceTurn],
    known: Sequence[KnownEntity] = FAMILY,
    earlier: Sequence[SourceTurn] = (),
) -> Draft:
    draft = draft_of(candidates, turns=turns, earlier=earlier)
    return resolve_refs.decide(draft, known=known, new_id=CountedIds().new)


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


@pytest.mark.parametrize(
    ("text", "mention", "content"),
    [
        ("She likes tea.", Mention("She"), "She likes tea."),
        ("Tom met Bob. He likes tea.", Mention("He"), "He likes tea."),
        ("Lena called. He likes tea.", Mention("He"), "He likes tea."),
        ("We like tea.", Mention("We"), "We like tea."),
        ("The library is shut.", Mention("the library"), "The library is shut."),
        ("I like her.", SPEAKER, "User likes her."),
        ("I said my piece.", SPEAKER, "User said my piece."),
        ("It rains.", SPEAKER, "It rains."),
        ("I love it.", SPEAKER, "User loves it."),
        ("I gave it to Lena.", SPEAKER, "User gave it to Lena."),
        ("I gave it to her.", SPEAKER, "User gave it to her."),
        ("I bought it in Paris.", SPEAKER, "User bought it in Paris."),
        ("I might try it sometime.", SPEAKER, "User might try it sometime."),
        ("I want to make it work.", SPEAKER, "User wants to make it work."),
        ("I want to write about this.", SPEAKER, "User wants to write about this."),
        ("I learnt these at school.", SPEAKER, "User learnt these at school."),
        ("I want to make that happen.", SPEAKER, "User wants to make that happen."),
        ("I'm waiting until it.", SPEAKER, "User waits until it."),
    ],
)
def test_what_dangles_is_dropped(text: str, mention: Mention, content: str) -> None:
    source = turn(text)
    given = candidate(content, source=source, subject=mention, evidence=text.split(". ")[-1])
    draft = resolve([given], turns=[source])
    assert draft.candidates == ()
    assert [drop.reason for drop in draft.drops] == [Reason.RESOLUTION_FAILED]
    assert draft.new_entities == ()


@pytest.mark.parametrize(
    "content",
    [
        "Lena loves her job.",
        "Lena said that she is tired.",
        'User says "I am fine".',
        "User bought a guitar and plays it every day.",
        "User likes running because it is free.",
        "The heating of User's workshop stays off until Ivo repairs it.",
        "The sauna in User's club opens at noon unless somebody rents it.",
        "User sold the car to a man who wanted it for spare parts.",
        "User put Django aside and took it up again.",
        "User finds it hard to sleep.",
        "User made it to the final.",
        "User wants to take it easy.",
        "User is moving this month.",
        "User supports those who care for others.",
        "User is grateful for moments like this.",
        "User hopes that Lena comes.",
        "User broke their arm.",
        "User is a nurse and loves her job.",
    ],
)
def test_a_pronoun_that_its_sentence_explains_stays(content: str) -> None:
    source = turn("Lena loves her job.")
    subject = person("Lena") if content.startswith("Lena") else SPEAKER
    draft = resolve([candidate(content, source=source, subject=subject)], turns=[source])
    assert [each.content for each in draft.candidates] == [content]


def test_a_pronoun_looks_back_over_earlier_turns() -> None:
    earlier, source = turn("Lena came by."), turn("She likes tea.", position=1)
    given = candidate("She likes tea.", source=source, subject=Mention("She"))
    draft = resolve([given], turns=[source], earlier=[earlier])
    assert draft.candidates[0].subject.entity_id == LENA.id


def test_who_takes_part_in_the_conversation_is_no_antecedent() -> None:
    lena = turn("My son was ill.", speaker="Lena")
    source = turn("You are right, Lena. She needs rest.", position=1, speaker="Ana")
    given = candidate("She needs rest.", source=source, subject=Mention("She"), evidence="She needs rest.")
    draft = resolve([given], turns=[source], earlier=[lena])
    assert [drop.reason for drop in draft.drops] == [Reason.RESOLUTION_FAILED]


def test_possessive_pronouns_become_possessive_names() -> None:
    source = turn("Lena came. I like her garden.")
    given = candidate(
        "User likes her garden.", source=source, mentions=(Mention("her"),), evidence="I like her garden."
    )
    assert resolve([given], turns=[source]).candidates[0].content == "User likes Lena's garden."


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


def test_equal_input_decides_equally() -> None:
    source = turn("My sister met Tom. She likes tea.")
    given = candidate("She likes tea.", source=source, subject=Mention("She"), evidence="She likes tea.")
    assert resolve([given], turns=[source]) == resolve([given], turns=[source])


WORDS = (
    "I she He it they my her their Lena Tom Rome Bob's manager the company my sister likes visited and . ' é".split()
)
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=10).map(" ".join)


@tried_with(
    text=TEXTS, mention=st.sampled_from([*WORDS, "my manager", "her brother", "Lena's dog", ""]), speaks=st.booleans()
)
def test_no_pronoun_is_ever_a_subject(text: str, mention: str, speaks: bool) -> None:
    source = turn(text)
    subject = SPEAKER if speaks else Mention(mention)
    told = candidate(f"{subject.text} {text}", source=source, subject=subject)
    for kept in resolve([told], turns=[source]).candidates:
        assert kind_of(kept.subject.text) is None
        assert kept.subject.entity_id is not None
        assert kind_of((kept.content.split() or [""])[0]) is None


def test_a_full_name_is_told_once_a_sentence() -> None:
    ana = replace(LENA, name="Ana Kowalska", aliases=("Ana",))
    source = turn("Ana hurt her knee.")
    told = candidate("Ana hurt her knee.", source=source, subject=Mention("Ana"), mentions=(Mention("her"),))
    (kept,) = resolve([told], turns=[source], known=(USER, ana)).candidates
    assert kept.content == "Ana Kowalska hurt Ana's knee."


def test_several_pets_are_what_they_means() -> None:
    source = turn("I adore my dogs. They bark a lot.")
    dogs = candidate("User adores my dogs.", source=source, entity=Mention("my dogs"), evidence="I adore my dogs.")
    bark = candidate("They bark a lot.", source=source, subject=Mention("They"), evidence="They bark a lot.")
    kept = resolve([dogs, bark], turns=[source]).candidates
    assert [each.content for each in kept] == ["User adores User's dogs.", "User's dogs bark a lot."]
    assert kept[0].object.entity == kept[1].subject


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ("Lena likes horses and rides them.", True),
        ("Lena likes people who make her laugh.", True),
        ("Lena is proud of Tom and teases him.", True),
        ("Lena takes me-time on Sundays.", True),
        ("User's sister Lena is pregnant and her baby is due in January 2027.", True),
        ("Lena told Tom that she wants to sell her flat.", True),
        ("Lena's dogs bring her joy.", True),
        ("Lena's laptop crashed, causing her to lose a day.", True),
        ("Lena dances often and it brings her joy.", True),
        ("Lena started a project for the park and raises money for it.", True),
        ("Lena finds the course hard but the view worth it.", True),
        ("Lena likes working with him.", False),
        ("Lena thought about it.", False),
        ("Lena met her.", False),
        ("Lena rides them.", False),
        ("Lena calls me.", False),
    ],
)
def test_what_a_sentence_explains_itself_may_stay(content: str, kept: bool) -> None:
    source = turn("so it was said")
    told = candidate(content, source=source, subject=Mention("Lena"))
    assert bool(resolve([told], turns=[source]).candidates) is kept


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ("Emil and Ida have their joint birthday party on 13 June 2026.", True),
        ("User and Lena sold their flat.", True),
        ("Emil has their joint birthday party on 13 June 2026.", False),
    ],
)
def test_several_people_by_name_are_what_their_means(content: str, kept: bool) -> None:
    source = turn("so it was said")
    told = candidate(content, source=source, extractor="some-model")
    assert bool(resolve([told], turns=[source]).candidates) is kept


@pytest.mark.parametrize(("extractor", "kept"), [("some-model", True), ("patterns:test", False)])
def test_a_model_may_name_somebody_else_before_a_pronoun(extractor: str, kept: bool) -> None:
    source = turn("so it was said")
    told = candidate("Lena stays in Vienna because of her thesis.", source=source, extractor=extractor)
    assert bool(resolve([told], turns=[source]).candidates) is kept
