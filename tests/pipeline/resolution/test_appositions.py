"""Who somebody is, told in passing: "Lena, User's sister, lives in York"."""

import pytest

from apps.pipeline.resolution.names import Description, apposition_of, describe


@pytest.mark.parametrize("owner", ["User", "Zoë", "Ana Kowalska", "Dr. Li", "<b>x(1)</b>"])
def test_the_owner_may_have_any_name(owner: str) -> None:
    sentence = f"Marta, {owner}'s sister, lives in Porto."
    assert apposition_of("Marta", sentence=sentence) == Description(noun="sister", owner=owner)


@pytest.mark.parametrize(
    "sentence",
    [
        "Marta lives in Porto, near Ana's sister.",
        "Marta, who lives in Porto, is Ana's sister.",
        "Marta, Ana's pen, is blue.",
    ],
)
def test_other_parts_of_a_sentence_are_no_apposition(sentence: str) -> None:
    assert apposition_of("Marta", sentence=sentence) is None


@pytest.mark.parametrize("text", ["Ana's flat in Ottensen", "my photo of Rome", "her letter to Ben"])
def test_a_place_after_a_preposition_is_no_apposition(text: str) -> None:
    described = describe(text)
    assert described is None or described.name == ""
