"""Doses and bans in the words of everyday talk."""

import pytest

from tests.pipeline.extraction.extract_helper import contents


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The doc put the sertraline up to 100.", ["User takes sertraline 100."]),
        ("She says I need 100 of the levothyroxine, not 75.", ["User takes levothyroxine 100."]),
        ("My GP gave me melatonin 2mg for it.", ["User takes melatonin 2mg."]),
        ("My GP gave me amoxicillin for a week.", ["User was given amoxicillin for a week."]),
        ("The nurse doubled the ramipril, so it's 5 now.", ["User takes ramipril 5."]),
        ("The insulin was increased to 10 units.", ["User takes insulin 10 units."]),
        (
            "The metformin made me ill so they've swapped it for gliclazide, 40 in the morning.",
            ["Metformin made User ill.", "User no longer takes metformin.", "User takes gliclazide 40 in the morning."],
        ),
        ("I take levothyroxine, 75 micrograms.", ["User takes levothyroxine 75 micrograms."]),
        ("I stopped the melatonin.", ["User no longer takes melatonin."]),
        ("And she said no ibuprofen with it.", ["User cannot have ibuprofen."]),
        ("The doctor told me not to drink alcohol.", ["User must not drink alcohol."]),
        ("Floor said I must not carry more than five kilos.", ["User must not carry more than five kilos."]),
        ("I don't need to take the tablets any more.", ["User no longer needs to take the tablets."]),
        ("I do two miles every night.", ["User does two miles every night."]),
        ("I do it every morning.", []),
        ("I eat like a horse.", []),
    ],
)
def test_what_is_taken_and_forbidden(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Metformin 500 twice a day, she must take it with food.", "She takes metformin 500 twice a day."),
        (
            "Hydroxyurea 500 mg at night, and penicillin she must never be given.",
            "She takes hydroxyurea 500 mg at night.",
        ),
        ("Metformin 500 twice a day, she said.", "User takes metformin 500 twice a day."),
        ("I take ramipril 5 mg, and she must take it too.", "User takes ramipril 5 mg."),
        (
            "My granddaughter has diabetes. They moved the Lantus up to ten units.",
            "User's granddaughter takes lantus ten units.",
        ),
    ],
)
def test_a_dose_is_told_of_who_takes_it(text: str, expected: str) -> None:
    assert expected in contents(text)
    assert sum("takes" in each for each in contents(text)) == 1
