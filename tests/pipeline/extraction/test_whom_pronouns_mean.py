"""Whom "she" means: somebody of the same sentence, the one before, or the speaker's last turn that names anybody."""

import pytest

from apps.pipeline.core.enums import Role
from apps.pipeline.extraction.patterns import extract
from tests.pipeline.builders import turn
from tests.pipeline.extraction.extract_helper import POLICY, contents


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Priya's mum was here. She's allergic to cats.", ["Priya's mum is allergic to cats."]),
        ("Aoife was here. That's my ex-wife.", ["User's ex-wife is Aoife."]),
        (
            "I'm seeing someone. Her name is Sandra, she teaches geography.",
            ["User is together with Sandra.", "Sandra teaches geography."],
        ),
        ("Leo's sixteen and Donal's thirteen.", ["Leo is sixteen years old.", "Donal is thirteen years old."]),
        (
            "My mom's a nurse. Her hip replacement is on 19 August.",
            ["User's mom is a nurse.", "User's mom's hip replacement is on 19 August."],
        ),
        # Of two, nobody knows which one is meant.
        ("We have Becky and our Chloe who is here, she's seventeen.", []),
        ("She is called Floor.", []),
    ],
)
def test_within_a_turn(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("My aunt Vera moved in.", ["Vera is allergic to cats."]),
        ("Vera and Nora moved in.", ["She is allergic to cats."]),
        ("We went to Rome.", ["She is allergic to cats."]),  # a place, as far as one can see
    ],
)
def test_across_turns(before: str, expected: list[str]) -> None:
    found = extract(turn=turn("She's allergic to cats.", position=1), policy=POLICY, before=(turn(before, position=0),))
    assert [each.content for each in found] == expected


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("How old is Mateo?", "He's two and a half.", ["Mateo is two and a half years old."]),
        ("And Mateo is your son?", "Yep, he's two.", ["Mateo is two years old."]),
        ("Is Mateo your son?", "Yes, he's two years old.", ["Mateo is two years old."]),
        ("Where does Ana live?", "She lives in Rome.", ["Ana lives in Rome."]),
        ("How is your sister?", "She has asthma.", ["User's sister has asthma."]),
        ("Sounds tiring. Does he like it?", "He loves travelling.", ["Luis loves travelling."]),
        # Of two, nobody knows which one is meant, and what is asked about may be a place.
        ("Is Ana or Tom older?", "He has asthma.", ["He has asthma."]),
        ("Was Rome nice?", "He has asthma.", ["Luis has asthma."]),
    ],
)
def test_it_is_whom_the_assistant_has_asked_about(question: str, answer: str, expected: list[str]) -> None:
    before = (
        turn("My husband Luis travels for work.", position=0),
        turn(question, position=1, role=Role.ASSISTANT),
    )
    found = extract(turn=turn(answer, position=2), policy=POLICY, before=before)
    assert [each.content for each in found] == expected
