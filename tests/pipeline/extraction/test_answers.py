"""Answers to the assistant's questions are completed by the question if they lack a subject and a verb."""

import pytest

from apps.pipeline.core.enums import Role
from apps.pipeline.extraction.patterns import extract
from tests.pipeline.builders import turn
from tests.pipeline.extraction.extract_helper import POLICY


def answered(question: str, answer: str, *, role: Role = Role.ASSISTANT) -> list[str]:
    before = (turn("Hello.", position=0), turn(question, position=1, role=role))
    return [each.content for each in extract(turn=turn(answer, position=2), policy=POLICY, before=before)]


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("Where do you live?", "In Lyon.", ["User lives in Lyon."]),
        ("Got it. And where do you live?", "Lyon", ["User lives in Lyon."]),
        ("Where are you from?", "From Ghana.", ["User comes from Ghana."]),
        ("What's your name?", "Ana", ["User's name is Ana."]),
        ("What do you do for a living?", "a nurse", ["User is a nurse."]),
        ("Are you allergic to anything?", "Yes, peanuts.", ["User is allergic to peanuts."]),
        ("Any allergies?", "peanuts and latex", ["User is allergic to peanuts.", "User is allergic to latex."]),
        ("Are you vegetarian?", "Yes", ["User is vegetarian."]),
        ("Do you eat meat?", "No.", ["User does not eat meat."]),
        ("Which editor do you use?", "Neovim", ["User uses Neovim."]),
        ("Do you prefer tea or coffee?", "tea", ["User prefers tea."]),
        ("Do you prefer tea or coffee?", "coffee", ["User prefers coffee."]),
        ("How old are you?", "34", ["User is 34 years old."]),
        ("Shall I remember that you prefer pytest fixtures?", "Yes", ["User prefers pytest fixtures."]),
        ("So you live in Lyon now, right?", "yes", ["User lives in Lyon."]),
    ],
)
def test_answers_are_completed(question: str, answer: str, expected: list[str]) -> None:
    assert answered(question, answer) == expected


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Do you want me to continue?", "Yes"),
        ("Do you need a table?", "yes please"),
        ("Shall I note that you work with Emacs?", "no, leave it"),
        ("Shall I write a test for it?", "Yes"),
        ("Do you have any allergies?", "No"),
        ("Where do you live?", "why do you ask?"),
        ("Here is your plan.", "In Lyon."),
        ("Which option do you like?", "the second one"),
        ("Do you see the error?", "yes"),
    ],
)
def test_answers_about_the_conversation_say_nothing(question: str, answer: str) -> None:
    assert answered(question, answer) == []


def test_only_questions_of_the_assistant_are_completed() -> None:
    assert answered("Where do you live?", "In Lyon.", role=Role.TOOL) == []
