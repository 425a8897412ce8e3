"""What a clause says of the health of somebody unknown is not the speaker's."""

import pytest

from tests.pipeline.extraction.extract_helper import contents


@pytest.mark.parametrize(
    "text",
    [
        "The new boss is vegan.",
        "The new intern can't eat gluten.",
        "The intern is lactose intolerant.",
        "The boss is diabetic.",
        "I heard the boss is diabetic.",
        "The neighbour is on warfarin.",
        "The nurse has asthma.",
        "The nurse next to me has asthma.",
        "The plumber takes metformin 500 mg.",
        "The new lad at work is diabetic.",
        "The hero of my novel is diabetic.",
        "My hero can't eat gluten.",
        "A colleague can't have dairy.",
        "The teacher is allergic to nuts.",
        "One of them is a vegetarian.",
        "Half the team is vegetarian.",
        "They are vegan.",
        "Somebody at work is coeliac.",
        "Nobody is coeliac.",
        "No one is vegetarian.",
        "Who is vegan",
        "Who is vegan?",
        "Bread is coeliac-safe.",
    ],
)
def test_an_unknown_subject_is_not_the_speaker(text: str) -> None:
    assert contents(text) == []


def test_what_has_a_quality_of_its_own_gives_the_speaker_none() -> None:
    assert "User is vegan." not in contents("My character is vegan.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Allergic to nuts.", ["User is allergic to nuts."]),
        ("The nurse is on leave. Allergic to nuts, by the way.", ["User is allergic to nuts."]),
        ("My knee has arthritis.", ["User's knee has arthritis."]),
        ("Our household is vegetarian.", ["User is vegetarian."]),
        ("The doctor has me on metformin 500 mg.", ["User takes metformin 500 mg."]),
        ("The clinic has started metformin.", ["User takes metformin."]),
        ("The metformin is now 1000 mg.", ["User takes metformin 1000 mg."]),
        ("The tablets are on repeat, metformin 500 mg twice a day.", ["User takes metformin 500 mg twice a day."]),
        ("The rash is eczema.", ["User has eczema."]),
        ("My wife is coeliac.", ["User's wife is coeliac."]),
    ],
)
def test_what_is_the_speakers_own_or_of_somebody_known_stays(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Metformin 2019.", []),
        ("On metformin since 2019.", ["User takes metformin."]),
        ("I'm on metformin since 2019.", ["User is on metformin since 2019."]),
        ("Metformin since 2019, 500 mg twice a day.", ["User takes metformin 500 mg twice a day."]),
        ("Metformin 2000 mg.", ["User takes metformin 2000 mg."]),
        ("Metformin; now 2 pills remain.", []),
        ("Losartan: now 3 left.", []),
        ("Metformin, 2 pills left.", []),
        ("I take losartan, only 3 left.", ["User takes losartan."]),
        ("Metformin 500 mg, only 3 tablets left.", ["User takes metformin 500 mg."]),
    ],
)
def test_years_and_stocks_are_no_doses(text: str, expected: list[str]) -> None:
    assert contents(text) == expected
