"""What is said of two at once, and of everything but one thing."""

import pytest

from tests.pipeline.extraction.extract_helper import contents


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Priya is vegetarian and so is Mina.", ["Priya is vegetarian.", "Mina is vegetarian."]),
        ("Tom loves hiking and so do I.", ["Tom loves hiking.", "User loves hiking."]),
        ("My brother can't eat eggs and neither can I.", ["User's brother cannot eat eggs.", "User cannot eat eggs."]),
        ("I eat everything apart from olives.", ["User does not eat olives."]),
        ("Joost eats everything except fish.", ["Joost does not eat fish."]),
        (
            "I don't like aubergine, and Joost doesn't eat fish.",
            ["User does not like aubergine.", "Joost does not eat fish."],
        ),
        # Another verb says something else.
        ("Priya is vegetarian and so does Mina.", ["Priya is vegetarian."]),
    ],
)
def test_each_gets_its_statement(text: str, expected: list[str]) -> None:
    assert contents(text) == expected
