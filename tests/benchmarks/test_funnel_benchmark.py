"""Recorded statements run through stages 3 to 6 without breaking the invariants of the store."""

import pytest

from apps.providers.fake import HashingEmbedder
from benchmarks.data import find
from benchmarks.funnel import funnel
from benchmarks.locomo_data import load


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
