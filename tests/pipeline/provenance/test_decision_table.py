"""Whose words a quote is: two tables of messages, decided by the structure around the quote.

A table of material in which a careless reader would take a false fact for the user's, and one of messages whose facts
are the user's own although a label, a list, a quotation or a block of code stands beside them.
"""

import pytest

from apps.pipeline.provenance.own_words import Standing, read_words
from tests.pipeline.provenance.messages import MATERIAL, OWN


def test_the_tables_are_long() -> None:
    assert (len(MATERIAL) >= 60, len(OWN) >= 40) == (True, True)


@pytest.mark.parametrize(("message", "quote"), MATERIAL)
def test_material_is_not_the_users(message: str, quote: str) -> None:
    assert read_words(message).standing_of(quote) is Standing.OTHERS


@pytest.mark.parametrize(("message", "quote"), OWN)
def test_own_words_beside_material_stay_own(message: str, quote: str) -> None:
    assert read_words(message).standing_of(quote) is Standing.OWN
