"""The shipped sample conversation is sufficient for the demo: long enough, with cases for every stage."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from apps.pipeline.core.draft import Draft
from apps.pipeline.core.statement import Candidate
from apps.pipeline.lexicon.retractions import takes_back
from apps.providers.registry import embedder
from tests.pipeline.extraction.extract_helper import said
from tests.pipeline.funnel_helper import settled

FILE = Path(__file__).parents[2] / "samples" / "three_weeks.json"


@pytest.fixture(scope="module")
def sessions() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))["sessions"]
    return found


@pytest.fixture(scope="module")
def candidates(sessions: list[dict[str, Any]]) -> list[Candidate]:
    users = (turn for session in sessions for turn in session["turns"] if turn["role"] == "user")
    return [candidate for turn in users for candidate in said(turn["content"])]


def test_it_is_three_weeks_long(sessions: list[dict[str, Any]]) -> None:
    turns = [turn for session in sessions for turn in session["turns"]]
    moments = [turn["occurred_at"] for turn in turns]
    assert len(turns) >= 120
    assert len(sessions) >= 10
    assert len({turn["turn_id"] for turn in turns}) == len(turns)
    assert moments == sorted(moments)
    assert {turn["role"] for turn in turns} == {"user", "assistant"}


@pytest.mark.parametrize(
    ("predicate", "values"),
    [
        ("lives_in", ["Berlin", "Munich"]),
        ("works_at", ["Northwind Logistics", "Helios Maps"]),
        ("has_manager", ["Priya", "Farid"]),
        ("allergic_to", ["peanuts", "peanuts"]),
    ],
)
def test_what_changes_or_is_repeated(candidates: list[Candidate], predicate: str, values: list[str]) -> None:
    found = [each.object.text for each in candidates if each.predicate == predicate and each.subject.is_speaker]
    assert found == values


def test_it_contradicts_itself_twice(candidates: list[Candidate]) -> None:
    polarities = Counter(
        (each.predicate, each.object.text)
        for each in {(c.predicate, c.object.text, c.polarity): c for c in candidates}.values()
        if not each.stateful
    )
    both_ways = {key for key, count in polarities.items() if count == 2}
    assert {("likes", "coffee"), ("likes", "open-plan offices")} <= both_ways


def test_it_takes_a_value_back_by_its_quote(candidates: list[Candidate]) -> None:
    used = [each for each in candidates if each.predicate == "uses"]
    assert any(takes_back(each.evidence, value=each.object.text, former="Vim") for each in used)


def test_it_holds_something_of_every_kind(candidates: list[Candidate]) -> None:
    assert {each.speech_act for each in candidates} >= {"asserted", "hypothetical", "roleplay"}
    assert {tag for each in candidates for tag in each.tags} >= {"convention", "constraint", "decision", "goal"}
    assert {each.type for each in candidates} >= {"fact", "preference", "event", "relation"}


@pytest.fixture(scope="module")
def drafts(sessions: list[dict[str, Any]]) -> list[Draft]:
    return list(settled(sessions, embedder=embedder("wordllama")))


def test_nothing_is_flagged_for_telling_of_the_same_person(drafts: list[Draft]) -> None:
    links = {
        (ruling.candidate.content, memory.content)
        for draft in drafts
        for ruling in draft.rulings
        for memory in ruling.possible_duplicates
        if ruling.candidate.predicate != memory.predicate
    }
    assert not {pair for pair in links if not _words(pair[0]) & _words(pair[1])}
    assert len(links) <= 2


def _words(sentence: str) -> set[str]:
    """Return what a sentence tells beside the user's name and the smallest words."""
    return set(re.findall(r"[a-z]{4,}|[A-Z]\w+", sentence)) - {"User", "Ana", "Kowalska", "with", "from"}


def test_what_is_said_again_merges(drafts: list[Draft]) -> None:
    merged = {
        ruling.merge_into.content for draft in drafts for ruling in draft.rulings if ruling.merge_into is not None
    }
    assert merged >= {"Ana Kowalska is vegetarian.", "Ana Kowalska is allergic to peanuts."}
