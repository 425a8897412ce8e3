"""Difference checks find how two similar sentences differ, in either order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.pipeline.deduplication.difference_checks import (
    Guard,
    contradictions,
    differences,
    precision_of,
    tells_relative_time,
)

SENTENCES = st.lists(
    st.sampled_from(
        "User Lena Rome likes dislikes has not never 3 three 500 euros dollars km in on May may Monday yesterday "
        "tea coffee red blue dog's doesn't might wants used to going 2024-03-05 March é 日本 , . ' !".split()
    ),
    max_size=12,
).map(" ".join)


@pytest.mark.parametrize(
    ("one", "two", "guard"),
    [
        ("User has two dogs.", "User has three dogs.", Guard.NUMBER),
        ("User paid 1,500 for the desk.", "User paid 1,400 for the desk.", Guard.NUMBER),
        ("User runs 5 km.", "User runs.", Guard.NUMBER),
        ("User swims on Mondays.", "User swims on Tuesdays.", Guard.DATE),
        ("User was born in May 1990.", "User was born in June 1990.", Guard.DATE),
        ("User left yesterday.", "User left today.", Guard.DATE),
        ("The exam is on 2024-03-05.", "The exam is on 2024-04-05.", Guard.DATE),
        ("User eats meat.", "User doesn't eat meat.", Guard.NEGATION),
        ("User eats meat.", "User never eats meat.", Guard.NEGATION),
        ("Der Nutzer isst Fleisch.", "Der Nutzer isst kein Fleisch.", Guard.NEGATION),
        ("User lives in Berlin.", "User lives in Munich.", Guard.NAME),
        ("Lena plays chess.", "Priya plays chess.", Guard.NAME),
        ("Tom owes Lena money.", "Lena owes Tom money.", Guard.ORDER),
        ("User prefers dogs to cats.", "User prefers cats to dogs.", Guard.ORDER),
        ("User takes tea instead of coffee.", "User takes coffee instead of tea.", Guard.ORDER),
        ("User paid 30 euros.", "User paid 30 dollars.", Guard.UNIT),
        ("User lost 5 kg.", "User lost 5 lb.", Guard.UNIT),
        ("User moves to Oslo.", "User might move to Oslo.", Guard.MODALITY),
        ("User smokes.", "User used to smoke.", Guard.MODALITY),
        ("User likes coffee.", "User dislikes coffee.", Guard.CONTRAST),
        ("User's favourite colour is blue.", "User's favourite colour is green.", Guard.CONTRAST),
        ("User's brother is tall.", "User's sister is tall.", Guard.CONTRAST),
        ("User moved to Rome.", "User moved from Rome.", Guard.CONTRAST),
        ("Julia is taller than Mark.", "Mark is taller than Julia.", Guard.ORDER),
        ("Ana owes Ben 5 euros.", "Ana is owed 5 euros by Ben.", Guard.ORDER),
        ("Priya is User's manager.", "User is Priya's manager.", Guard.ORDER),
        ("User trains.", "User stopped training.", Guard.REVERSAL),
        ("User broke an arm.", "User almost broke an arm.", Guard.REVERSAL),
        ("User takes coffee with sugar.", "User takes coffee without sugar.", Guard.NEGATION),
        ("User werkt in Utrecht.", "User werkt niet in Utrecht.", Guard.NEGATION),
        ("User is a nurse.", "User was a nurse.", Guard.TENSE),
        ("User is a doctor.", "User has a doctor.", Guard.BEING),
        ("User is 31.", "User is thirty-nine.", Guard.NUMBER),
        ("User lives on the second floor.", "User lives on the 3rd floor.", Guard.NUMBER),
        ("The class is at 7 am.", "The class is at 7 pm.", Guard.NUMBER),
        ("User gets up at half past six.", "User gets up at half past seven.", Guard.NUMBER),
        ("User retired in the seventies.", "User retired in the sixties.", Guard.DATE),
        ("The passport is legal.", "The passport is illegal.", Guard.NEGATION),
        ("User trusts the bank.", "User distrusts the bank.", Guard.NEGATION),
        ("User is a smoker.", "User is a non-smoker.", Guard.NEGATION),
        ("User ha la patente.", "User non ha la patente.", Guard.NEGATION),
        ("User n'a pas de chien.", "User a un chien.", Guard.NEGATION),
        ("User smokes.", "User no longer smokes.", Guard.REVERSAL),
        ("The café is above the library.", "The library is above the café.", Guard.ORDER),
        ("User's wife supports User's brother.", "User's brother supports User's wife.", Guard.ORDER),
        ("Ana introduced Ben to Eva.", "Ana introduced Eva to Ben.", Guard.ORDER),
        ("User was robbed by a colleague.", "User robbed a colleague.", Guard.ORDER),
        ("User was interviewed in March.", "User interviewed in March.", Guard.ORDER),
        ("User left Kim after User met Lou.", "User met Lou after User left Kim.", Guard.ORDER),
        ("User lives in Lima.", "User lived in Lima.", Guard.TENSE),
        ("Jo is User's daughter.", "Jo is User's daughter-in-law.", Guard.KINSHIP),
        ("Carl is User's father.", "Carl is User's stepfather.", Guard.KINSHIP),
        ("User eats at least two apples.", "User eats at most two apples.", Guard.BOUND),
        ("User works on Mondays.", "User only works on Mondays.", Guard.FOCUS),
        ("User checked in at the hotel.", "User checked out of the hotel.", Guard.CONTRAST),
        ("User turned the heat up.", "User turned the heat down.", Guard.CONTRAST),
        ("All friends are vegan.", "Some friends are vegan.", Guard.CONTRAST),
        ("User broke the left wrist.", "User broke the right wrist.", Guard.CONTRAST),
    ],
)
def test_finds_the_difference(one: str, two: str, guard: Guard) -> None:
    assert guard in differences(one, two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("User has 3 dogs.", "User has three dogs."),
        ("User paid 1,500 for the desk.", "User paid 1500 for the desk."),
        ("User was born on 2024-03-05.", "User was born on 5 March 2024."),
        ("User swims on Tuesdays.", "User swims every Tuesday."),
        ("User doesn't eat meat.", "User never eats meat."),
        ("Lena is User's sister.", "Lena is the sister of User."),
        ("User ran 5 kilometres.", "User ran 5 km."),
        ("User loves tea.", "User really likes tea."),
        ("User saved 20%.", "User saved 20 percent."),
        ("User wants to dive.", "User would like to dive."),
        ("User moved from Kiel to Bonn in 2021.", "In 2021 User moved from Kiel to Bonn."),
        ("Priya is User's manager.", "User's manager is Priya."),
        ("User prefers tea to coffee.", "User prefers tea over coffee."),
        ("User takes 20 mg every day.", "User takes 20 mg daily."),
        ("User pays 900 euros a month.", "User pays 900 euros every month."),
        ("Nina wrote the report.", "The report was written by Nina."),
        ("User is fond of old jazz.", "User likes old jazz."),
        ("User doesn't like olives.", "User dislikes olives."),
        ("User's age is 52.", "User is fifty-two years old."),
        ("User stopped smoking.", "User no longer smokes."),
        ("The rehearsal is at 7:30 pm.", "The rehearsal is at 19:30."),
        ("User's birthday is on 3 May.", "User was born on May 3rd."),
        ("User is married to Amir.", "User's husband is Amir."),
        ("In May, Ana called Ben.", "Ana called Ben in May."),
    ],
)
def test_paraphrases_differ_in_nothing(one: str, two: str) -> None:
    assert differences(one, two) == frozenset()


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("User works at Arrive.", "User has worked at Arrive since 2019.", set()),
        ("User works at Arrive.", "User works at Arrive in Oslo.", set()),
        ("User has worked at Arrive since 2019.", "User has worked at Arrive since 2021.", {Guard.NUMBER}),
        ("User works at Arrive.", "User does not work at Arrive.", {Guard.NEGATION}),
    ],
)
def test_a_less_precise_wording_does_not_contradict(one: str, two: str, expected: set[Guard]) -> None:
    assert contradictions(one, two) == expected


@given(SENTENCES, SENTENCES)
def test_order_does_not_matter(one: str, two: str) -> None:
    assert differences(one, two) == differences(two, one)
    assert contradictions(one, two) <= differences(one, two)


@given(st.text(max_size=80))
def test_any_text_equals_itself(text: str) -> None:
    assert differences(text, text) == frozenset()


def test_relative_time_is_seen() -> None:
    assert tells_relative_time("User went hiking last Saturday.")
    assert not tells_relative_time("User went hiking on 5 March 2024.")


def test_numbers_and_times_make_a_sentence_more_precise() -> None:
    assert precision_of("User bought a bike for 300 euros in May.") > precision_of("User bought a lovely shiny bike.")
