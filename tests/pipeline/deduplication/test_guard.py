"""The guard finds numbers, dates, negations and names in which two sentences differ, in either order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.pipeline.deduplication.guard import Difference, differences, exclusions, plain_words

SENTENCES = st.lists(
    st.sampled_from(
        "User Lena Rome likes has not never 3 three 500 euros km in on May may Monday yesterday "
        "tea coffee dog's doesn't might used to going 2024-03-05 March é 日本 , . ' ! - seven-year-old".split()
    ),
    max_size=12,
).map(" ".join)


@pytest.mark.parametrize(
    ("one", "two", "difference"),
    [
        ("User has two dogs.", "User has three dogs.", Difference.NUMBER),
        ("User paid 1,500 for the desk.", "User paid 1,400 for the desk.", Difference.NUMBER),
        ("User lives on the second floor.", "User lives on the 3rd floor.", Difference.NUMBER),
        ("User gets up at half past six.", "User gets up at half past seven.", Difference.NUMBER),
        ("User's blood type is A+.", "User's blood type is A-.", Difference.NUMBER),
        ("The flat is on floor +2.", "The flat is on floor -2.", Difference.NUMBER),
        ("The balance is -500 euros.", "The balance is 500 euros.", Difference.NUMBER),
        ("User weighs <80 kg.", "User weighs >80 kg.", Difference.NUMBER),
        ("User writes C++.", "User writes C#.", Difference.NUMBER),
        ("User writes C.", "User writes C++.", Difference.NUMBER),
        ("User works 50%.", "User works 50.", Difference.NUMBER),
        ("User swims on Mondays.", "User swims on Tuesdays.", Difference.DATE),
        ("User left yesterday.", "User left today.", Difference.DATE),
        ("The exam is on 2024-03-05.", "The exam is on 2024-04-05.", Difference.DATE),
        ("User eats meat.", "User doesn't eat meat.", Difference.NEGATION),
        ("User eats meat.", "User never eats meat.", Difference.NEGATION),
        ("User takes coffee with sugar.", "User takes coffee without sugar.", Difference.NEGATION),
        ("User werkt in Utrecht.", "User werkt niet in Utrecht.", Difference.NEGATION),
        ("User n'a pas de chien.", "User a un chien.", Difference.NEGATION),
        ("User lives in Berlin.", "User lives in Munich.", Difference.NAME),
        ("Tom owes Lena money.", "Lena owes Tom money.", Difference.NAME),
    ],
)
def test_finds_the_difference(one: str, two: str, difference: Difference) -> None:
    assert difference in differences(one, two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("User has 3 dogs.", "User has three dogs."),
        ("User was born on 2024-03-05.", "User was born on 5 March 2024."),
        ("User swims on Tuesdays.", "User swims every Tuesday."),
        ("User moved from Kiel to Bonn in 2021.", "In 2021 User moved from Kiel to Bonn."),
        ("User prefers tea to coffee.", "User prefers tea over coffee."),
        ("User stopped smoking.", "User no longer smokes."),
        ("The rehearsal is at 7:30 pm.", "The rehearsal is at 19:30."),
        ("User has a daughter of 7 years.", "User has a seven-year-old daughter."),
    ],
)
def test_paraphrases_differ_in_nothing(one: str, two: str) -> None:
    assert differences(one, two) == frozenset()


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("User works at Arrive.", "User has worked at Arrive since 2019.", set()),
        ("User works at Arrive.", "User works at Arrive in Oslo.", set()),
        ("User knows Lena and Tom.", "User knows Tom and Lena.", set()),
        ("User has worked at Arrive since 2019.", "User has worked at Arrive since 2021.", {Difference.NUMBER}),
        ("User works at Arrive.", "User does not work at Arrive.", {Difference.NEGATION}),
    ],
)
def test_a_less_precise_wording_is_not_excluded(one: str, two: str, expected: set[Difference]) -> None:
    assert exclusions(one, two) == expected


@pytest.mark.parametrize(
    ("one", "two", "equal"),
    [
        ("Ana has two cats!", "Ana really has 2 cats.", True),
        ("The exam is on 2024-03-05.", "Exam is on 5 March 2024", True),
        ("User moved from Ulm to Bonn.", "User moved from Bonn to Ulm.", False),
        ("User was robbed by a colleague.", "User robbed a colleague.", False),
        ("User lives in Lima.", "User lived in Lima.", False),
    ],
)
def test_equal_words_are_equal_in_their_order(one: str, two: str, equal: bool) -> None:
    assert (plain_words(one) == plain_words(two)) is equal


@given(SENTENCES, SENTENCES)
def test_order_does_not_matter(one: str, two: str) -> None:
    assert differences(one, two) == differences(two, one)
    assert exclusions(one, two) <= differences(one, two)
