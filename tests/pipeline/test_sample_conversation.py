"""The shipped sample conversation and its recorded answers suffice for the demo: cases for every stage."""

import json
from pathlib import Path
from typing import Any

import pytest

from apps.memories.reading.in_memory_store import InMemoryStore
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import Status
from apps.pipeline.core.statement import Candidate, StoredMemory
from apps.providers.recorded import RecordedModel
from apps.providers.registry import embedder
from tests.pipeline.funnel_helper import USER, settled

FOLDER = Path(__file__).parents[2] / "memplatform/samples"


@pytest.fixture(scope="module")
def sessions() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((FOLDER / "three_weeks.json").read_text(encoding="utf-8"))["sessions"]
    return found


@pytest.fixture(scope="module")
def store() -> InMemoryStore:
    return InMemoryStore()


@pytest.fixture(scope="module")
def drafts(sessions: list[dict[str, Any]], store: InMemoryStore) -> list[Draft]:
    model = RecordedModel(conversation="three_weeks")
    return list(settled(sessions, store=store, embedder=embedder("wordllama"), model=model))


@pytest.fixture(scope="module")
def candidates(drafts: list[Draft]) -> list[Candidate]:
    """All candidates in the order in which they were said, repetitions among them."""
    told = [ruling.candidate for draft in drafts for ruling in draft.rulings]
    told += [drop.candidate for draft in drafts for drop in draft.drops if drop.candidate is not None]
    places = {turn.id: place for place, turn in enumerate(t for draft in drafts for t in draft.request.turns)}
    return sorted(told, key=lambda each: (places[each.source_turn_ids[0]], each.index))


@pytest.fixture(scope="module")
def memories(drafts: list[Draft], store: InMemoryStore) -> list[StoredMemory]:
    assert drafts
    return [each.memory for each in store.state(end_user_id=USER).memories.values()]


def test_every_recorded_memory_is_proposed_and_grounded(candidates: list[Candidate], drafts: list[Draft]) -> None:
    lines = (FOLDER / "three_weeks_answers.jsonl").read_text(encoding="utf-8").splitlines()
    recorded = [memory for line in lines for memory in json.loads(line).get("memories", ())]
    assert len(candidates) == len(recorded)
    assert {drop.reason for draft in drafts for drop in draft.drops if drop.candidate} <= {"duplicate"}
    assert {each.extractor for each in candidates} == {"recorded:three_weeks"}


@pytest.mark.parametrize(
    ("predicate", "values"),
    [
        ("lives_in", ["Berlin", "Munich"]),
        ("works_at", ["Northwind Logistics", "Helios Maps", "Helios Maps"]),
        ("has_manager", ["Priya", "Farid"]),
        ("allergic_to", ["peanuts", "peanuts"]),
    ],
)
def test_what_changes_or_is_repeated(candidates: list[Candidate], predicate: str, values: list[str]) -> None:
    found = [each.object.text for each in candidates if each.predicate == predicate and each.subject.is_speaker]
    assert found == values


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ana Kowalska lives in Berlin.", "Ana Kowalska lives in Munich."),
        ("Ana Kowalska works at Northwind Logistics.", "Ana Kowalska works at Helios Maps since 16 March 2026."),
        ("Ana Kowalska is a data engineer.", "Ana Kowalska is a platform lead."),
        ("Priya is Ana Kowalska's manager.", "Farid is Ana Kowalska's manager."),
        ("Ana Kowalska loves coffee.", "Ana Kowalska no longer likes coffee."),
        ("Ana Kowalska uses Vim.", "Ana Kowalska uses Neovim."),
    ],
)
def test_the_old_value_ends_when_the_new_one_begins(memories: list[StoredMemory], old: str, new: str) -> None:
    former, present = (next(each for each in memories if each.content == content) for content in (old, new))
    assert (former.status, present.status) == (Status.SUPERSEDED, Status.ACTIVE)
    assert former.valid_until == present.valid_from


def test_nothing_is_flagged_as_a_possible_duplicate(drafts: list[Draft]) -> None:
    assert not [
        ruling.possible_duplicates for draft in drafts for ruling in draft.rulings if ruling.possible_duplicates
    ]


def test_what_is_said_again_merges(drafts: list[Draft]) -> None:
    merged = {
        ruling.merge_into.content for draft in drafts for ruling in draft.rulings if ruling.merge_into is not None
    }
    assert merged >= {"Ana Kowalska is vegetarian.", "Ana Kowalska is allergic to peanuts."}
