"""Introductions of oneself, noun phrases with a regular time, and ironic praise."""

import pytest

from apps.pipeline.core.enums import SourceConfidence
from tests.pipeline.extraction.extract_helper import contents, said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hi, I'm Kim, founder of Acme.", ["User's name is Kim.", "User is the founder of Acme."]),
        ("I'm Kim, 38, originally from Valencia.",
         ["User's name is Kim.", "User is 38 years old.", "User originally comes from Valencia."]),
        ("I am a retired teacher, 71, and I live in Ludlow.",
         ["User is a retired teacher.", "User is 71 years old.", "User lives in Ludlow."]),
        ("Tom and I are getting married on 12 September.", ["User is getting married to Tom on 12 September."]),
        ("Nadia and I broke up.", ["User broke up with Nadia."]),
        ("Me and Nadia split up last month.", ["User split up with Nadia last month."]),
        ("My husband and I separated in May.", ["User separated from User's husband in May."]),
        ("Nadia and I broke up a month ago.", ["User broke up with Nadia a month ago."]),
        ("Me and Tom split up the bill.", ["User split up the bill."]),
        ("The party split up.", []),
        ("I'm the treasurer of nothing.", []),
        ("In the story, now I am a wizard.", []),
        ("I'm tired, founder or not.", []),
    ],
)  # fmt: skip
def test_an_introduction_says_several_things(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Physiotherapy every Tuesday.", ["User has physiotherapy every Tuesday."]),
        ("Choir on Thursdays at 7.", ["User has choir on Thursdays at 7."]),
        ("Run every day!", []),
        ("Same every day.", []),
    ],
)
def test_a_noun_with_a_regular_time_is_a_statement(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "oh sure, I just love stretching. best part of my day 🙄",
        "Oh wonderful, it is hailing on my seedlings. I do so love the English spring.",
        "I love Mondays 🙄",
    ],
)
def test_ironic_praise_is_no_preference(text: str) -> None:
    assert contents(text) == []


def test_plain_praise_after_delight_is_kept() -> None:
    assert contents("Oh wonderful, thanks! I love hiking.") == ["User loves hiking."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Left knee has been sore since March.", ["User's left knee has been sore since March."]),
        ("The tendon is completely fine again.", ["User's tendon is fine again."]),
        ("In 2015 they gave me bendroflumethiazide for a year or so.",
         ["User was given bendroflumethiazide in 2015 for a year."]),
        ("They gave me ibuprofen.", []),
    ],
)  # fmt: skip
def test_health_without_a_subject_of_ones_own(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No, Uma Reyes, we were at school together. She's my colleague.", ["Uma Reyes is User's colleague."]),
        ("We charge per seat from 1 May, 35 euros a head.", ["User charges per seat from 1 May, 35 euros a head."]),
        ("Uma had her party on Sunday.", []),  # it is over, and happens on no other day
        ("The guests come on Saturday, Uma is 6, what could we plant?", ["Uma is 6 years old."]),
    ],
)
def test_what_names_and_times_say(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


@pytest.mark.parametrize(
    "text", ["Let's role-play: you are the king and I'm a knight.", "You are the doctor and I'm a patient."]
)
def test_a_part_in_a_play_is_no_introduction(text: str) -> None:
    assert contents(text) == []


@pytest.mark.parametrize(
    ("text", "is_sure"),
    [
        ("I'm Kim.", True),
        ("Hi! I'm Kim.", True),
        ("Good morning. I am Kim.", True),
        ("Thanks for that. By the way, I'm Kim.", True),
        ("Please write short answers. I'm Kim, a nurse.", True),
        ("Please write short answers. My name is Kim.", True),
        ("Read me the Doctor. I'm Maeve.", False),
        ("What is the best club in Kenya? I am Gor Mahia.", False),
    ],
)
def test_a_bare_name_in_passing_is_left_to_a_person(text: str, is_sure: bool) -> None:
    (named,) = (each for each in said(text) if each.predicate == "name")
    assert (named.source_confidence is not SourceConfidence.SPECULATED) is is_sure
