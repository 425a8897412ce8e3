"""What speakers say they are beside a main clause is told as if they said it plainly."""

import pytest

from tests.pipeline.extraction.extract_helper import contents


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("As a celiac, I can't eat bread.", ["User is celiac.", "User cannot eat bread."]),
        ("As a vegan, I struggle in Paris.", ["User is vegan."]),
        ("As a diabetic, can I eat this?", ["User is diabetic."]),
        ("Speaking as a vegan, I need B12.", ["User is vegan."]),
        ("As someone with asthma, I avoid smoke.", ["User has asthma.", "User avoids smoke."]),
        ("As somebody who's allergic to cats, I can't visit you.", ["User is allergic to cats."]),
        ("Being diabetic, I need snacks.", ["User is diabetic."]),
        ("Vegan here, any tips?", ["User is vegan."]),
        ("Coeliac here, so no bread please.", ["User is coeliac."]),
        ("Allergic to penicillin here.", ["User is allergic to penicillin."]),
        ("Fellow diabetic here!", ["User is diabetic."]),
        ("I'm the token vegan at work.", ["User is vegan."]),
        ("I am, for the record, vegetarian.", ["User is vegetarian."]),
        ("I'm, unlike my brother, vegetarian.", ["User is vegetarian."]),
        ("I am, unfortunately, allergic to dogs.", ["User is allergic to dogs."]),
        ("My sister is, as you know, coeliac.", ["User's sister is coeliac."]),
        ("Peanuts? I'm deathly allergic to them.", ["User is deathly allergic to peanuts."]),
        ("No almonds, I'm allergic to them, my lips swell up.", ["User is allergic to almonds."]),
        ("I love cats but I'm allergic to them.", ["User loves cats.", "User is allergic to cats."]),
        ("We're pregnant!", ["User is having a baby."]),
        ("As a vegan myself, I look for oat milk.", ["User is vegan."]),
        ("as a diabetic i need snacks on long hikes", ["User is diabetic."]),
        ("as someone with adhd i cant focus in the open office", ["User has adhd."]),
        ("As someone who's allergic to cats I can't visit you.", ["User is allergic to cats."]),
        ("Vegan mum here, any lunch ideas?", ["User is vegan."]),
        ("Coeliac dad here!", ["User is coeliac."]),
        ("Does it have nuts? I'm allergic to them.", ["User is allergic to nuts."]),
        ("Is there any milk in it? I'm allergic to it.", ["User is allergic to milk."]),
        ("I avoid milk because it gives me cramps.", ["User avoids milk.", "Milk gives User cramps."]),
        ("I love cheese but it gives me migraines.", ["Cheese gives User migraines."]),
    ],
)
def test_it_is_told_plainly(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Being diabetic, my dad can't have it.",
        "As a vegan, my girlfriend would hate it.",
        "As a diabetic I know told me, sugar is fine.",
        "Being vegan, I imagine, is expensive.",
        "As a vegan I met told me, tofu is great.",
        "Vegan restaurant here?",
        "As a vegan I need to feed is coming, what do I cook?",
        "As a coeliac I am cooking for can't have wheat, what should I make?",
        "Being diabetic I cannot envy you.",
        "As someone with asthma in the house I avoid smoke",
        "Diabetic mother here, 30 weeks, BP 140/90, how do I manage her?",
        "Vegan mum here, what does she eat?",
        "Is the dog ok with chicken? I'm allergic to it.",
        "As a diabetic I can relate to, my aunt is careful.",
        "As someone who is diabetic can tell you, I need rest.",
        "Can I come with milk? I'm allergic to that idea.",
        "As a diabetic, my patient asked for a snack list.",
        "As a vegan, I want to filter recipes so that I only see vegan ones.",
        "Besides, I'm allergic to them.",
        "Really? I'm allergic to that.",
        "I'm the worst vegetarian in the world.",
        "I am, they say, diabetic.",
        "No vegan here, thanks.",
        "Vegetarian here: lentil soup. Meat: beef stew.",
        "I am, if you ask my mother, diabetic.",
        "As a vegan restaurant, we get a lot of questions.",
        "I am, I think, allergic to dust.",
        "The diabetic here is my dad.",
        "Vegan food here is great.",
        "Do you like cats? I'm allergic to them.",
        "We're all vegan except me.",
        "The vegan in me says no.",
        "Thanks, I'm allergic to them.",
        "My son eats nothing that is green.",
    ],
)
def test_what_others_are_is_not_told_of_the_speaker(text: str) -> None:
    assert contents(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("As someone with asthma, my daughter avoids smoke.", ["User's daughter avoids smoke."]),
        ("As someone with diabetes in the family, I get tested every year.", ["User gets tested every year."]),
    ],
)
def test_the_rest_is_told_alone(text: str, expected: list[str]) -> None:
    assert contents(text) == expected
