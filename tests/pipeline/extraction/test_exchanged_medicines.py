"""Medicines that another one has replaced: the patient takes the new one, and no longer the former one."""

import pytest

from tests.pipeline.extraction.extract_helper import contents


@pytest.mark.parametrize(
    ("text", "taken", "ended"),
    [
        ("I was sick on tramadol so they changed to codeine.", "codeine", "tramadol"),
        ("The headaches were worse on sumatriptan so they changed to rizatriptan.", "rizatriptan", "sumatriptan"),
        ("Amoxicillin gave me a rash so they switched to doxycycline.", "doxycycline", "amoxicillin"),
        ("The ramipril made me cough, so they changed to losartan.", "losartan", "ramipril"),
    ],
)
def test_the_new_one_is_taken_and_the_former_one_is_not(text: str, taken: str, ended: str) -> None:
    told = contents(text)
    assert f"User takes {taken}." in told
    assert f"User no longer takes {ended}." in told
    assert f"User takes {ended}." not in told
    assert f"User no longer takes {taken}." not in told


def test_what_is_taken_beside_the_new_one_ends_nothing() -> None:
    told = contents("They switched me to topiramate. I take ramipril 5 mg too.")
    assert "User no longer takes topiramate." not in told


def test_a_relative_takes_the_new_one() -> None:
    told = contents("My mum was put on warfarin and then they changed to apixaban.")
    assert "User's mum takes apixaban." in told
    assert "User's mum no longer takes apixaban." not in told


def test_somebody_the_speaker_looks_after_takes_the_new_one() -> None:
    told = contents("My client was on warfarin so they changed to apixaban.")
    assert told == ["User's client takes apixaban.", "User's client no longer takes warfarin."]
    assert not any("codeine" in each for each in contents("My patient was given tramadol so they changed to codeine."))


@pytest.mark.parametrize(
    "text",
    [
        "The dog was sick on tramadol so they changed to gabapentin.",
        "The lad upstairs was on warfarin so they changed to apixaban.",
        "The lad upstairs reacted to tramadol so they changed to codeine.",
        "The neighbour was put on codeine.",
        "The patient reacted to tramadol so they changed to codeine.",
    ],
)
def test_what_somebody_unknown_takes_is_nobodys(text: str) -> None:
    assert contents(text) == []
