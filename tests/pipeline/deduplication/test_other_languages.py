"""Statements in other languages than English, which the difference checks can't read: words alone never merge them."""

from dataclasses import replace
from uuid import UUID

import pytest

from apps.pipeline.core.policy import SimilarityBand
from apps.pipeline.deduplication.matching import MatchVerdict, compare
from apps.tuning.calibrate import LabelledPair, PairLabel, ScoredPair
from tests.pipeline.builders import candidate, known, turn

BAND = SimilarityBand(unsure=0.80)


def compared(one: str, two: str) -> MatchVerdict:
    """Compare two sentences by their words only, with a cosine of nearly 1."""
    pair = LabelledPair(one=one, two=two, label=PairLabel.UNRELATED)
    return ScoredPair(pair=pair, cosine=0.99).judged(BAND).verdict


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("User wohnt in Bremen.", "User wohnte in Bremen."),
        ("User trabaja en Correos.", "User trabajaba en Correos."),
        ("User habite à Lyon.", "User n'habite plus à Lyon."),
        ("User mora no Porto.", "User já não mora no Porto."),
        ("User vive con una amiga.", "User vive con la amiga."),
        ("User werkt in Utrecht.", "In Utrecht werkt User."),
        ("Пользователь живёт в Риге.", "Пользователь жил в Риге."),
        ("用户住在上海。", "用户曾住在上海。"),
    ],
)
def test_alike_words_leave_it_to_a_judge(one: str, two: str) -> None:
    assert compared(one, two) is not MatchVerdict.SAME


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("User wohnt in Bremen.", "User wohnt nicht in Bremen."),
        ("User werkt in Utrecht.", "User werkt niet in Utrecht."),
        ("User ha la patente.", "User non ha la patente."),
        ("User come carne.", "User nunca come carne."),
        ("User wohnt in Bremen.", "User wohnt in Kassel."),
        ("User hat 2 Hunde und eine Katze.", "User hat 3 Hunde und eine Katze."),
    ],
)
def test_names_numbers_and_negations_hold_them_apart(one: str, two: str) -> None:
    assert compared(one, two) is MatchVerdict.DIFFERENT


def test_a_known_triple_merges_them() -> None:
    source = turn("said before")
    one, two = (
        known(candidate(content, source=source), memory_id=UUID(int=number), source=source)
        for number, content in enumerate(("User wohnt in Kassel.", "User lebt seit Jahren in Kassel."))
    )
    two = replace(two, canonical_hash=one.canonical_hash)
    assert compare(one, two, cosine=0.8, band=BAND).verdict is MatchVerdict.SAME


def test_english_of_the_same_words_merges() -> None:
    assert compared("User lives in Lima.", "User really lives in Lima.") is MatchVerdict.SAME
