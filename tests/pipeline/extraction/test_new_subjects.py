"""A sentence is read in parts where another subject begins, and "she" means the person of the sentence before."""

import pytest

from tests.pipeline.extraction.extract_helper import contents


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Omar is vegetarian, Kim's dad Bo has asthma, and Uma is coeliac.",
         ["Omar is vegetarian.", "Bo has asthma.", "Uma is coeliac."]),
        ("I share a flat with Nour, and Nour is allergic to nuts so no cake.",
         ["User lives with Nour.", "Nour is allergic to nuts."]),
        ("heads up, Jonas left, Mira can't eat eggs.", ["Jonas left.", "Mira cannot eat eggs."]),
        ("I'm getting married on 12 September and all I have is a messy list.",
         ["User is getting married on 12 September."]),
    ],
)  # fmt: skip
def test_a_new_subject_begins_a_statement(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "If I took the job, Ines would be my boss.",
        "If I get it, Ines is my boss.",
        "Ivo says Ben is ill and Anna is vegan.",
        "When it rains, Anna is vegan.",
    ],
)
def test_what_is_conditional_or_reported_stays_together(text: str) -> None:
    assert contents(text) == []


@pytest.mark.parametrize("text", ["Since the stairs are no good for me.", "Because swimming is important to me."])
def test_a_reason_alone_says_nothing(text: str) -> None:
    assert contents(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("If I took the job, Ines would be my boss! She taught me mixing.", ["Ines taught User mixing."]),
        ("Uma is coeliac. She's allergic to nuts. She lives in York.",
         ["Uma is coeliac.", "Uma is allergic to nuts.", "Uma lives in York."]),
        ("Uma is coeliac. She lives in York. He is vegan.", ["Uma is coeliac.", "Uma lives in York.", "He is vegan."]),
        ("Anna told Ben. He is vegan.", ["He is vegan."]),
        ("I met my sister Uma. She is vegan.", ["User met Uma, User's sister.", "Uma is vegan."]),
        ("I've told her. He mustn't have salt.", ["He must not have salt."]),
        ("I saw Dad's doctor today. He's got diabetes now.", ["User's dad has diabetes."]),
        ("That's his sister Uma, she's the one who can't eat egg.", ["Uma cannot eat egg."]),
        ("Lena has twins, and one of them, Uma, is coeliac.", ["Uma is coeliac."]),
        ("Aisha has signed! Our first designer, she starts on 1 April.",
         ["User's first designer Aisha starts on 1 April."]),
        ("My friend Uma from Leeds is vegan, she's allergic to nuts.",
         ["Uma, User's friend, is vegan.", "Uma is allergic to nuts."]),
    ],
)  # fmt: skip
def test_a_pronoun_means_the_only_person_before_it(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


def test_medicine_is_named_after_the_one_that_it_replaces() -> None:
    text = "My legs hurt, so Dr Prentice has taken me off those tablets and put me on candesartan instead, 8 mg."
    assert "User takes candesartan 8 mg." in contents(text)
    assert not [each for each in contents("She's taken me off those tablets.") if "those" in each]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We practise on Thursdays now.", ["User practises on Thursdays now."]),
        ("I am walking with two sticks.", ["User is walking with two sticks."]),
        ("Please give me paces in km, never miles.",
         ["User wants the assistant to give User paces in km, never miles."]),
        ("My son-in-law Rex can't eat eggs.", ["Rex is User's son-in-law.", "Rex cannot eat eggs."]),
    ],
)  # fmt: skip
def test_a_regular_time_an_aid_and_a_never_show_that_it_lasts(text: str, expected: list[str]) -> None:
    assert contents(text) == expected
