"""Whose a condition, medicine or diet is, and which are only supposed, tested for or denied."""

import pytest

from tests.pipeline.extraction.extract_helper import contents


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My guests: Ana (vegan), Bo (nut allergy) and Cy.", "Bo has nut allergy."),
        ("Leo (asthma, inhaler) and Mia (peanut allergy) come on Friday.", "Mia has peanut allergy."),
        ("Ana, like me, has asthma.", "Ana has asthma."),
        ("Grandad has Parkinson's and takes levodopa 100 mg.", "User's grandad takes levodopa 100 mg."),
        ("I thought I had asthma, but it was reflux.", "User has reflux."),
        ("I have asthma (mild).", "User has asthma."),
        ("My mum called about Dad. He has gout.", "User's dad has gout."),
        ("We visited my aunt. She can't have salt.", "User's aunt cannot have salt."),
        ("Allergies: penicillin, latex.", "User is allergic to latex."),
        ("I live in Dublin (and I'm coeliac).", "User has coeliac."),
        ("I moved to Spain (for my arthritis).", "User has arthritis."),
        ("I thought I told you I'm allergic to penicillin.", "User is allergic to penicillin."),
        ("My inhaler isn't helping my asthma.", "User has asthma."),
        ("I was tested positive for hepatitis B.", "User has hepatitis B."),
        ("I have two conditions, one is asthma and the other is eczema.", "User has eczema."),
        ("I'm Anna, allergic to nuts.", "User is allergic to nuts."),
        ("Diabetes runs in my family, no surprise there.", "Diabetes runs in User's family."),
        ("Tom came with his wife. He's diabetic.", "Tom is diabetic."),
        ("My nephew living with us has asthma.", "User's nephew has asthma."),
        ("Ana sitting beside me is coeliac.", "Ana has coeliac."),
        ("The tablet that works for me is ramipril 5 mg.", "User takes ramipril 5 mg."),
        ("There's a history of diabetes in my family.", "Diabetes runs in User's family."),
        ("I'm afraid I have diabetes.", "User has diabetes."),
        ("Tom also has asthma.", "Tom has asthma."),
        ("My brother Neville used to run. He still has the gout.", "Neville, User's brother, has gout."),
        ("On the 24th of June I have my eyes done, cataract.", "User has a cataract."),
        ("My friend June was here. June has a cataract.", "June, User's friend, has a cataract."),
        ("I'm a 34 year old with asthma.", "User has asthma."),
    ],
)
def test_it_is_told_of_whom_it_is_said(text: str, expected: str) -> None:
    assert expected in contents(text)


@pytest.mark.parametrize(
    "text",
    [
        "Her dad has Alzheimer's and mine has Parkinson's.",
        "Your sister has asthma? Mine has diabetes.",
        "I thought I was lactose intolerant but I'm not.",
        "For years I thought I was allergic to penicillin.",
        "They tested me for coeliac, came back negative.",
        "I was misdiagnosed with lupus.",
        "It isn't gout.",
        "I grew out of my asthma.",
        "My doctor suspects I have fibromyalgia.",
        "I suspect I have ADHD.",
        "I'm thinking of going vegan.",
        "Ana, like me, has asthma.",
        "My guests: Ana (vegan), Bo (nut allergy) and Cy.",
        "The twins came, one is coeliac.",
        "The twins came, the other has asthma.",
        "Nobody in my family has diabetes.",
        "Diabetes runs in my wife's family.",
        "Allergies: none.",
        "Patient: John Smith, allergic to penicillin.",
        "Diabetes meal plan please",
        "Mark said I should take vitamin D.",
        "Neither of my parents has diabetes.",
        "The lady living beside us is diabetic.",
        "I don't think my son who is 5 has asthma.",
        "If my sister who lives in Cork has asthma I worry.",
        "Had an 82 year old on warfarin, fell off a bidet.",
    ],
)
def test_nothing_is_told_of_the_speaker(text: str) -> None:
    beginnings = ("User has", "User is allergic", "User is lactose", "User is vegan", "User takes")
    assert [each for each in contents(text) if each.startswith(beginnings)] == []


@pytest.mark.parametrize(
    "text",
    [
        "Tom came by with his sister. She is coeliac.",
        "My son has a new teacher. She is diabetic.",
        "My brother's girlfriend is coming. She's vegan.",
        "Diabetes runs in my wife's family.",
    ],
)
def test_she_is_nobody_whom_she_can_not_mean(text: str) -> None:
    assert [
        each for each in contents(text) if each.startswith(("Tom is", "User's")) and " has a new " not in each
    ] == []
