"""What something does to somebody is told of whom it does it to, as far as its own clause goes."""

import pytest

from tests.pipeline.extraction.extract_helper import contents


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Since coffee gives me palpitations I drink tea.", ["Coffee gives User palpitations."]),
        ("Since milk upsets my stomach, I stick to oat milk.", ["Milk upsets User's stomach."]),
        ("As milk makes Tom ill we buy oat milk.", ["Milk makes Tom ill."]),
        (
            "Since coffee gives me palpitations and I love it, I drink decaf.",
            ["User drinks decaf.", "Coffee gives User palpitations."],
        ),
        (
            "Because gluten makes me ill the minute I eat it I avoid it.",
            ["Gluten makes User ill the minute User eats it."],
        ),
        ("I ran out of insulin and it made me faint.", ["User ran out of insulin."]),
        ("I quit coffee and it gave me headaches.", ["User quit coffee."]),
        (
            "Because penicillin gave me a rash they put me on clarithromycin.",
            ["User takes clarithromycin.", "Penicillin gave User a rash."],
        ),
        (
            "Because milk gives me cramps when I drink it I avoid it.",
            ["Milk gives User cramps when User drinks it."],
        ),
    ],
)
def test_the_main_clause_is_not_part_of_it(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I gave up coffee because it gives me palpitations.", "Coffee gives User palpitations."),
        ("I can't drink milk because it upsets my stomach.", "Milk upsets User's stomach."),
        ("I don't eat prawns because they give me hives.", "Prawns give User hives."),
        ("My sister Ana avoids milk because it upsets her stomach.", "Milk upsets Ana's stomach."),
        ("She avoids milk because it gives her cramps.", "Milk gives her cramps."),
    ],
)
def test_why_something_is_left_out_is_told(text: str, expected: str) -> None:
    assert expected in contents(text)


def test_what_makes_something_worse_does_not_have_it() -> None:
    assert not any("Dust has" in each or "Dust eczema" in each for each in contents("Dust makes her eczema worse."))


def test_what_was_and_what_is_are_two_statements() -> None:
    told = contents("As a kid I was allergic to eggs, now I am allergic to nuts.")
    assert "User is allergic to nuts." in told
    assert not any("eggs" in each and "nuts" in each for each in told)
    assert "User lives in Galway." in contents("I used to live in Cork, now I live in Galway.")
