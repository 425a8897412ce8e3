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
        ("My allergies:\n- nuts\n- soy", ["User's allergies: nuts.", "User's allergies: soy."]),
        ("My pets:\n- Rex, a dog\n- Tom, a cat", ["User's pets: Rex, a dog.", "User's pets: Tom, a cat."]),
        # Read by a pattern of its own, or not a list of the speaker's life.
        ("My medicines:\n- ramipril 5 mg\n- who knows?", ["User takes ramipril 5 mg."]),
        ("My team:\n- Priyanka, backend", []),
        ("My todo list:\n- eggs\n- milk", []),
        ("Rules of the site:\n- no photos\n- no dogs", []),
        ("House rules\n- no smoking\n- check-out by 10 am\nCan you translate these into German?", []),
        ("Ground rules\n- no smoking\n- check-out by 10 am\nCan you translate these into German?", []),
        ("The rules:\n1. Each player takes five cards\n2. The eldest begins", []),
        ("My rules\n- no phone in bed\n- no coffee after 2", []),
        ("Some preferences:\n- vim\n- dark mode", []),
        ("My imports:\n- os\n- sys", []),
        ("My config:\n- debug on\n- port 80", []),
        ("My hypothesis is:\n- rents rise\n- wages fall", []),
        ("My team:\n- lost 3-0 yesterday\n- Lost 2-1 today", []),
        ("My medication:\n- none of these any more\n- none", []),
        ("My characters:\n- Brom, allergic to nuts\n- Lila, diabetic", []),
        ("These are my characters for the book:\n- Brom, allergic to nuts\n- Lila, diabetic", []),
        ("My patients:\n\n- Mrs Hill, diabetic\n- allergic to nuts", []),
        ("My situation:\n- I'm allergic to nuts\n- rent is due", ["User is allergic to nuts."]),
        ("> My team:\n> - Bo, backend\n> - Kim, frontend", []),
    ],
)
def test_lines_of_lists(text: str, expected: list[str]) -> None:
    assert contents(text) == expected
