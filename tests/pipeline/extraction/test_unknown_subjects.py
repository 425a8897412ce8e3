"""A noun that nobody knows, a denial or what somebody else noted is never the user's health."""

import pytest

from tests.pipeline.extraction.extract_helper import contents


def told_of_the_user(text: str) -> list[str]:
    return [each for each in contents(text) if each.startswith(("User has", "User is", "User takes", "User eats"))]


@pytest.mark.parametrize(
    "text",
    [
        "hubby has gout",
        "hubby is on 10mg lisinopril",
        "cat has diabetes",
        "grandkids are allergic to peanuts",
        "twins are allergic to egg, both of them",
        "bro has a nut allergy",
        "gf is a pescatarian",
        "hubs is on keto",
        "no, hubby has gout",
        "hubby has gout and takes allopurinol 100 mg",
        "I work nights and hubby has gout",
        "I heard hubby has gout",
        "I adopted a cat that has diabetes",
        "The kids I have are allergic to nuts",
        "The woman that I love has cancer",
        "SO has celiac",
        "DH is diabetic",
        "OH is on 50mg sertraline",
        "moms allergic to sulfa",
        "my sisters allergic to milk",
        "One guest has a nut allergy.",
    ],
)
def test_whoever_the_noun_means_is_not_the_user(text: str) -> None:
    assert told_of_the_user(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "it's not true that I have diabetes",
        "there's no way I have diabetes",
        "I doubt I have celiac",
        "I refuse to believe I'm diabetic",
        "I never said I was allergic to dairy",
        "I didn't tell you I have asthma",
        "you said I have asthma but that's wrong",
        "you wrongly saved that I have asthma",
        "delete the note that I have asthma",
        "No, I'm not the one with asthma, that's Kim",
        "it's not me who is vegan it's Leo",
        "remind me who's vegan, Kate or Jim",
        "I lied and said I have asthma",
        "webmd says I have cancer lmao",
        "chatgpt told me I have lupus",
        "the quiz says I'm autistic",
        "write a story where I'm a diabetic surgeon",
    ],
)
def test_what_is_denied_or_noted_by_others_is_no_fact(text: str) -> None:
    assert told_of_the_user(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "I'm raising money for cancer",
        "I'm running a marathon for Parkinson's",
        "I have an exam on epilepsy tomorrow",
        "we treat cancer at my lab",
        "I tested negative for HIV and hepatitis",
        "I see a lot of kids with eczema at work",
        "I'm a teacher for kids with autism",
        "I have an aunt in Toronto with dementia",
        "I've got a sister who takes lithium 600mg",
        "mom has asthma & dad has COPD",
        "taking 5mg of eliquis 2x a day",
        "I prescribed 20mg prozac to a patient today",
    ],
)
def test_a_topic_is_no_condition_and_a_verb_no_medicine(text: str) -> None:
    health = "cancer Parkinson's epilepsy HIV hepatitis eczema autism dementia asthma COPD".split()
    wrong = {f"User has {name}." for name in health} | {"User has breast cancer.", "User takes lithium 600mg."}
    told = told_of_the_user(text)
    assert wrong.isdisjoint(told)
    assert not [each for each in told if each.startswith(("User takes taking", "User takes prescribed"))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Still have asthma", "User has asthma."),
        ("yes have asthma", "User has asthma."),
        ("can't eat gluten", "User cannot eat gluten."),
        ("super allergic to dust", "User is allergic to dust."),
        ("doctor has me on ramipril 5 mg", "User takes ramipril 5 mg."),
        ("doctor says I have gout", "User has gout."),
        ("mum says I have asthma", "User has asthma."),
        ("The biopsy said I have cancer", "User has cancer."),
        ("I already said I have asthma", "User has asthma."),
        ("often have migraines", "User has migraines."),
        ("plus have asthma", "User has asthma."),
        ("I had chemo for leukemia", "User has leukemia."),
        ("I have lupus with arthritis", "User has arthritis."),
        ("Can't believe I'm coeliac", "User has coeliac."),
        ("no doubt I have asthma", "User has asthma."),
        ("Like you said I have asthma", "User has asthma."),
        ("I know who gave me hepatitis C", "User has hepatitis C."),
        ("I'm the only one here that has asthma.", "User has asthma."),
        ("I take ramipril for high blood pressure", "User takes ramipril for high blood pressure."),
        ("I was in hospital with pneumonia", "User has pneumonia."),
        ("I'm on leave for depression", "User has depression."),
        ("mom has asthma & dad has COPD", "User's dad has COPD."),
        ("I told you I'm vegan", "User is vegan."),
        ("I'm the one allergic to nuts.", "User is allergic to nuts."),
    ],
)
def test_a_subject_that_is_left_out_is_the_user(text: str, expected: str) -> None:
    assert expected in contents(text)
