"""Recorded statements run through stages 3 to 6 without breaking the invariants of the store."""

from uuid import UUID

import pytest

from apps.pipeline.core.enums import MemoryType
from apps.providers.fake import HashingEmbedder
from benchmarks.data import find
from benchmarks.funnel import funnel
from benchmarks.locomo_data import LocomoObservation, load
from benchmarks.observed import candidate_of


@pytest.mark.parametrize(
    ("text", "subject", "predicate", "value", "mentions"),
    [
        ("Ana painted a lake last year.", "Ana", "painted", "a lake last year", []),
        (
            "Ana recently signed up for pottery with Bea Lund.",
            "Ana",
            "signed",
            "up for pottery with Bea Lund",
            ["Bea Lund"],
        ),
        ("Ana's sister moved to Ghent in May.", "Ana's sister", "moved", "to Ghent in May", ["Ghent"]),
        ("Ana and her family went camping.", "Ana", "is_observed", "", []),
        ("Painting is fun for Ana.", "Ana", "is_observed", "", []),
    ],
)
def test_an_observation_becomes_a_triple(
    text: str, subject: str, predicate: str, value: str, mentions: list[str]
) -> None:
    turn = UUID(int=7)
    found = candidate_of(LocomoObservation(text, "Ana", 1, ("D1:1",)), index=3, sources=(turn,))
    assert (found.subject.text, found.predicate, found.object.text) == (subject, predicate, value)
    assert [mention.text for mention in found.mentions] == mentions
    assert (found.index, found.content, found.source_turn_ids) == (3, text, (turn,))
    assert found.type in (MemoryType.FACT, MemoryType.PREFERENCE)


@pytest.fixture(scope="module")
def counts() -> dict[str, int]:
    try:
        conversations = load(find(None, "locomo_dev.json"))
    except FileNotFoundError as absent:
        pytest.skip(str(absent))
    return funnel(conversations[:2], embedder=HashingEmbedder())


def test_what_must_never_be_is_not(counts: dict[str, int]) -> None:
    broken = ("pronoun_subjects", "live_duplicates_by_hash", "two_values_of_a_slot", "without_turns")
    assert {name: counts[name] for name in broken} == dict.fromkeys(broken, 0)


def test_every_observation_is_accounted_for(counts: dict[str, int]) -> None:
    assert counts["stored"] + counts["merged"] + counts["dropped"] == counts["candidates"]
    assert counts["entities"] > 2
    assert counts["stored"] > 0.8 * counts["candidates"]


def test_the_judges_are_asked_about_few(counts: dict[str, int]) -> None:
    assert counts["asked_pairs"] < 0.1 * counts["candidates"]
