"""A correction repeats an earlier statement with the right words."""

from collections.abc import Sequence

import pytest

from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.extraction.patterns import extract
from tests.pipeline.builders import turn


def told(content: str, *, before: Sequence[str]) -> list[str]:
    said = [turn(each, position=place) for place, each in enumerate(before)]
    found = extract(turn=turn(content, position=len(said)), policy=ExtractionPolicy(), before=said)
    assert {each.evidence for each in found} <= {content}
    return [each.content for each in found]


@pytest.mark.parametrize(
    ("before", "correction", "expected"),
    [
        (["I live in Paris."], "I meant Lyon, not Paris.", ["User lives in Lyon."]),
        (["I live in Paris."], "Sorry, Lyon, not Paris.", ["User lives in Lyon."]),
        (["I live in Paris."], "Oops, I meant to say Lyon and not Paris!", ["User lives in Lyon."]),
        (["I live in Paris.", "I bought a car."], "no wait, Lyon, not Paris", ["User lives in Lyon."]),
        (["I play the cello."], "Correction: the viola, not the cello.", ["User plays the viola."]),
        (["My birthday is on 15 June."], "Sorry, it's 14 June, not 15 June.", ["User's birthday is on 14 June."]),
        (["I love Rome.", "I live in Rome."], "I meant Milan, not Rome.", ["User lives in Milan."]),
    ],
)
def test_the_latest_sentence_is_said_again(before: list[str], correction: str, expected: list[str]) -> None:
    assert told(correction, before=before) == expected


def test_the_sentence_may_stand_in_the_same_turn() -> None:
    found = extract(turn=turn("I live in Paris. Sorry, Lyon, not Paris."), policy=ExtractionPolicy())
    assert [each.content for each in found] == ["User lives in Paris.", "User lives in Lyon."]


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ([], "I meant Lyon, not Paris."),
        (["I live in Oslo."], "I meant Lyon, not Paris."),
        (["Do you like Paris?"], "I meant Lyon, not Paris."),
        (["I live in Paris."], "Lyon, not Paris."),  # may answer a question
        (["I live in Paris."], "I meant Lyon, not Paris?"),
        (["I live in Paris."], "No, Lyon is lovely, not Paris."),
        (["I love spicy food."], "It's mild, not spicy."),
        (["I love spicy food."], "No, it's mild, not spicy."),
    ],
)
def test_nothing_is_said_again_without_a_sentence_that_is_meant(before: list[str], said: str) -> None:
    assert told(said, before=before) == []


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("No, her name is Anna, not Anne.", ["Anne's name is Anna."]),
        ("He's actually called Bo, not Bob.", ["Bob's name is Bo."]),
        ("My sister's name is Anna, not Anne.", ["Anne's name is Anna."]),
        ("Is her name Anna, not Anne?", []),
    ],
)
def test_a_misnomer(sentence: str, expected: list[str]) -> None:
    assert told(sentence, before=[]) == expected


def test_no_number_of_openers_takes_long() -> None:
    assert told(f"{'no, sorry, ' * 1_000}Lyon", before=["I live in Paris."]) == []
