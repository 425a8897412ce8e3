"""Lists under a heading that says whose they are."""

import pytest

from tests.pipeline.extraction.extract_helper import contents

_FOLLOW = "User wants the assistant to follow the rule:"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "ground rules\n- commits: imperative, no emoji\n- no new dependency without asking me first",
            [f"{_FOLLOW} commits: imperative, no emoji.", f"{_FOLLOW} no new dependency without asking User first."],
        ),
        (
            "Hi there.\nMy team:\n1. Priyanka, backend\n2. Luis, frontend, my senior\n\nThanks",
            ["User's team: Priyanka, backend.", "User's team: Luis, frontend, User's senior."],
        ),
        # Read by a pattern of its own, or not a list of the speaker's life.
        ("My medicines:\n- ramipril 5 mg\n- who knows?", ["User takes ramipril 5 mg."]),
        ("My team:\n- Priyanka, backend", []),
        ("My todo list:\n- eggs\n- milk", []),
        ("Rules of the site:\n- no photos\n- no dogs", []),
        ("> My team:\n> - Bo, backend\n> - Kim, frontend", []),
    ],
)
def test_lines_of_lists(text: str, expected: list[str]) -> None:
    assert contents(text) == expected
