"""Several things in one sentence: children by name, a stack, activities and tastes."""

import pytest

from tests.pipeline.extraction.extract_helper import contents


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "We have two kids, Mira and Tobias.",
            ["User has two kids, Mira and Tobias.", "Mira is User's child.", "Tobias is User's child."],
        ),
        (
            "I have two daughters, Ida (9) and Mira (6).",
            ["User has two daughters, Ida (9) and Mira (6).", "Ida is User's daughter.", "Mira is User's daughter."],
        ),
        (
            "We've got three cats: Miso, Tofu and Nori.",
            [
                "User has three cats: Miso, Tofu and Nori.",
                "Miso is User's cat.",
                "Tofu is User's cat.",
                "Nori is User's cat.",
            ],
        ),
        (
            "My stack is Django, htmx and Postgres 16.",
            ["User uses Django.", "User uses htmx.", "User uses Postgres 16."],
        ),
        ("Our stack: FastAPI, Redis.", ["User uses FastAPI.", "User uses Redis."]),
        ("Our tech stack is Go and Kafka.", ["User uses Go.", "User uses Kafka."]),
        (
            "I'm planning a trip with my brother Tunde.",
            ["User is planning a trip with Tunde, User's brother."],
        ),
        ("Can you write a note for my sister Lena?", ["Lena is User's sister."]),
        ("My kids are Mira and Tobias.", ["Mira is User's child.", "Tobias is User's child."]),
        ("The kids are Mira and Tobias.", ["Mira is User's child.", "Tobias is User's child."]),
        ("The cats are Miso and Tofu.", ["Miso is User's cat.", "Tofu is User's cat."]),
        ("Our boys: Ben and Leo.", ["Ben is User's son.", "Leo is User's son."]),
        # Nobody says that these are the speaker's.
        ("boys: Tom and Jerry", []),
        ("The brothers are Romulus and Remus.", []),
        ("sisters are Elsa and Anna", []),
        ("My sons are called Ben and Leo.", ["Ben is User's son.", "Leo is User's son."]),
    ],
)
def test_lists(text: str, expected: list[str]) -> None:
    assert sorted(contents(text)) == sorted(expected)
