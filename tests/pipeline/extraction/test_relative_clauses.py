"""Clauses with "who" say who is meant; what stands behind them is told of the same person."""

import re

import pytest

from apps.pipeline.extraction.patterns.relative_clauses import with_relative_clauses_told, without_relative_clauses
from tests.pipeline.extraction.extract_helper import contents

_OF_THE_SPEAKER = re.compile(
    r"User (?:is|has|takes|cannot have) (?:an? )?(?:allergic|nut allergies|asthma|coeliac|diabetic|lithium|peanut)"
)
LONG = "My aunt who " + "works and rests who " * 5_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My sister who lives in Cork is coeliac.", "User's sister is coeliac."),
        ("Cian, who's 15, is coeliac.", "Cian is coeliac."),
        ("Cian who's 15 is coeliac so it can't have flour", "Cian is coeliac."),
        ("Maria who works with me is allergic to nuts.", "Maria is allergic to nuts."),
        ("Anna, who I met in Rome, is allergic to nuts.", "Anna is allergic to nuts."),
        ("My brother, who lives in Leeds, has diabetes.", "User's brother has diabetes."),
        ("My mum, whose kidneys are weak, takes ramipril.", "User's mum takes ramipril."),
        ("My son, who I told you about, takes methylphenidate 10 mg.", "User's son takes methylphenidate 10 mg."),
        ("My nephew that lives with us has asthma.", "User's nephew has asthma."),
        ("My son who has been ill takes amoxicillin 250 mg.", "User's son takes amoxicillin 250 mg."),
        ("Tom, whose dog bit me, is on warfarin.", "Tom is on warfarin."),
        ("My husband who works nights takes melatonin 3 mg.", "User's husband takes melatonin 3 mg."),
        ("Mia who's had asthma since 2010 uses the blue inhaler.", "Mia uses the blue inhaler."),
        ("Kim, who is diabetic, takes metformin 500 mg.", "Kim takes metformin 500 mg."),
        ("Kim, who is diabetic, takes metformin 500 mg.", "Kim is diabetic."),
        ("Leo, who can't eat nuts, takes cetirizine.", "Leo cannot eat nuts."),
        ("My sister who is coeliac is visiting.", "User's sister is coeliac."),
        ("Grandad, who turned 80, has Parkinson's and takes levodopa 100 mg.", "User's grandad takes levodopa 100 mg."),
        ("My sister who never drinks wine has gout.", "User's sister has gout."),
        ("I married Lea who has diabetes.", "Lea has diabetes."),
        ("My neighbor who I drive to dialysis has diabetes.", "User's neighbor has diabetes."),
        ("Mary Burke, who is diabetic, takes metformin.", "Mary Burke takes metformin."),
        ("My friend Mary from Cork who has two kids is coeliac.", "Mary is coeliac."),
        ("As a dad who has asthma I hate smoke.", "User has asthma."),
        ("I saw Dr Burke who prescribed metformin.", "User takes metformin."),
        ("I saw my GP who confirmed asthma.", "User has asthma."),
        ("I'm Anna who has asthma.", "User has asthma."),
        ("Tell Ana who is coeliac that there's no flour in it.", "Ana has coeliac."),
        ("I live with my gran who has dementia.", "User's gran has dementia."),
        ("My friends who know I'm coeliac bake without flour.", "User has coeliac."),
        # Both are told.
        ("My sister who lives in Cork is a nurse.", "User's sister lives in Cork."),
        ("My sister who lives in Cork is a nurse.", "User's sister is a nurse."),
        ("Anna, who works at Google, is moving to Berlin.", "Anna is moving to Berlin."),
        # What is said of the speaker stays the speaker's.
        ("The doctor who treats my mum says I have asthma.", "User has asthma."),
        ("My sister who works with Tom said I am allergic to nuts.", "User is allergic to nuts."),
        ("The doctor said that I have asthma.", "User has asthma."),
        ("My doctor, who I saw on Monday, has put me on ramipril 5 mg.", "User takes ramipril 5 mg."),
        ("I'm a person who can't eat dairy.", "User cannot have dairy."),
        ("I'm the one who takes metformin in this house.", "User takes metformin."),
        ("I, who never drink, have gout.", "User has gout."),
        # A place is not who does something.
        ("The doctor at Aga Khan was pleased. Amlodipine is 10 mg from today.", "User takes amlodipine 10 mg."),
        ("My sister in Cork is allergic to eggs.", "User's sister is allergic to eggs."),
    ],
)
def test_whoever_is_described_is_whom_the_rest_is_about(text: str, expected: str) -> None:
    assert expected in contents(text)


@pytest.mark.parametrize(
    "text",
    [
        "My mate who lives next door is diabetic.",
        "The woman who cleans for us is allergic to dust.",
        "The bloke who fixes our boiler has asthma.",
        "The kids who come to us on Fridays have nut allergies.",
        "My flatmate who I share a kitchen with is allergic to peanuts.",
        "I have a son who has asthma.",
        "I'm married to a man who is coeliac.",
        "I know somebody who is coeliac.",
        "I live with a partner who takes lithium 400 mg.",
        "My students who have dyslexia, and asthma, get more time.",
        "I met a nurse who has coeliac disease.",
        "The girl I met in Rome is coeliac.",
        "My cousin visiting me from Boston has asthma.",
        "Women who have asthma take lithium.",
        "One guest has a nut allergy.",
        "Tell Ana who is coeliac that there's no flour in it.",
    ],
)
def test_what_strangers_have_is_not_the_speakers(text: str) -> None:
    assert [each for each in contents(text) if _OF_THE_SPEAKER.match(each)] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My sister who lives in Cork is coeliac", "My sister is coeliac"),
        ("My friend from Cork who has two kids is ill", "My friend from Cork is ill"),
        ("Anna, who I met in Rome, is vegan", "Anna is vegan"),
        ("The woman who cleans for us has asthma", "The woman has asthma"),
        ("Met Anna, who is pregnant, had lunch", "Met Anna, who is pregnant, had lunch"),
        ("My husband who I drive to work has gout", "My husband has gout"),
        ("A migraine that started today is over", "A migraine that started today is over"),
        ("My brother Tom's wife who is vegan has gout", "My brother Tom's wife who is vegan has gout"),
        ("Kim, who's had gout, who's 40, takes iron", "Kim, who's had gout, who's 40, takes iron"),
        (
            "My sister who phoned because Tom is coeliac is tired",
            "My sister who phoned because Tom is coeliac is tired",
        ),
        ("It was Tom who told me that he has asthma", "It was Tom who told me that he has asthma"),
        ("Cian who's is ill", "Cian is ill"),
        ("My sister knows who lives here is ill", "My sister knows who lives here is ill"),
    ],
)
def test_a_clause_is_left_out_where_it_surely_ends(text: str, expected: str) -> None:
    assert without_relative_clauses(text) == expected


def test_many_clauses_are_read_in_bounded_work() -> None:
    assert len(without_relative_clauses(LONG)) > 90_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Leo, who can't eat nuts, takes iron", "Leo can't eat nuts, and Leo takes iron"),
        ("And my sister who's 15 is ill", "And my sister is 15, and my sister is ill"),
        ("Mary Burke who lives in Rome is vegan", "Mary Burke lives in Rome, and Mary Burke is vegan"),
        ("Anna, who I met in Rome, is vegan", "Anna is vegan"),
        ("My friend who his wife left has gout", "My friend has gout"),
        ("My brother who doctors say has autism is kind", "My brother is kind"),
        # What stands before would be lost.
        ("I don't think my son who is 5 has asthma", "I don't think my son who is 5 has asthma"),
        ("If my sister who lives in Cork is ill", "If my sister who lives in Cork is ill"),
        ("Neither Ana nor my sister who sings is vegan", "Neither Ana nor my sister who sings is vegan"),
    ],
)
def test_a_clause_about_the_subject_becomes_a_statement(text: str, expected: str) -> None:
    assert with_relative_clauses_told(text) == expected
