"""Pronouns: what they mean, and which statements they make useless."""

import pytest
from hypothesis import given as tried_with
from hypothesis import strategies as st

from apps.pipeline.core.enums import Reason
from apps.pipeline.core.statement import Mention
from apps.pipeline.resolution.pronouns import kind_of, replace_mentions
from tests.pipeline.builders import SPEAKER, candidate, person, turn
from tests.pipeline.resolution.known_people import LENA, resolve


@pytest.mark.parametrize(
    ("text", "mention", "content"),
    [
        ("She likes tea.", Mention("She"), "She likes tea."),
        ("Tom met Bob. He likes tea.", Mention("He"), "He likes tea."),
        ("We like tea.", Mention("We"), "We like tea."),
        ("The library is shut.", Mention("the library"), "The library is shut."),
        ("I like her.", SPEAKER, "User likes her."),
        ("It rains.", SPEAKER, "It rains."),
        ("I love it.", SPEAKER, "User loves it."),
        ("I gave it to Lena.", SPEAKER, "User gave it to Lena."),
        ("I might try it sometime.", SPEAKER, "User might try it sometime."),
        ("I want to make it work.", SPEAKER, "User wants to make it work."),
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
        "User sold the car to a man who wanted it for spare parts.",
        "User finds it hard to sleep.",
        "User is moving this month.",
        "User supports those who care for others.",
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


@pytest.mark.parametrize(
    ("content", "names", "expected"),
    [
        ("User (Kim) fixes lifts.", {"User": "Kim"}, "Kim fixes lifts."),
        ("Tam, User's roommate, bakes.", {"User": "Kim", "User's roommate": "Tam"}, "Tam, Kim's roommate, bakes."),
        ("Ben likes User's roommate.", {"User": "Kim", "User's roommate": "Tam"}, "Ben likes Tam."),
        ("Lena, Tom and User came.", {"User": "Kim"}, "Lena, Tom and Kim came."),
    ],
)
def test_a_name_is_not_written_twice(content: str, names: dict[str, str], expected: str) -> None:
    assert replace_mentions(content, names=names) == expected


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
        ("Lena takes me-time on Sundays.", True),
        ("User's sister Lena is pregnant and her baby is due in January 2027.", True),
        ("Lena told Tom that she wants to sell her flat.", True),
        ("Lena dances often and it brings her joy.", True),
        ("Lena started a project for the park and raises money for it.", True),
        ("Lena likes working with him.", False),
        ("Lena met her.", False),
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
