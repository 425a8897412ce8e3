"""Session-level extraction: its prompt, and that its memories expire or replace those that they continue."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from apps.memories.reading.in_memory_store import InMemoryStore
from apps.pipeline.core.draft import Draft, KnownEntity
from apps.pipeline.core.enums import Precision, Reason
from apps.pipeline.core.policy import ExtractionPolicy, Policy
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.extract import run_session
from apps.providers.fake import ScriptedModel
from tests.pipeline.answers import listing
from tests.pipeline.builders import MONDAY, ORIGIN, candidate, draft_of, known, ports_of, turn

SAID = turn("What does a flat in Bergen cost?"), turn("My password is hunter2.", position=1)


def remembered(content: str, number: int, *, predicate: str, session: UUID) -> StoredMemory:
    made = candidate(content, source=SAID[0], predicate=predicate)
    return known(made, memory_id=UUID(int=number), source=SAID[0], origins=((str(session), "2025-06-01"),))


MEMORIES = (
    *(remembered(f"User owns boat {n}.", n, predicate="owns", session=ORIGIN.session_id) for n in range(20)),
    remembered("User lives in Leeds.", 30, predicate="lives_in", session=UUID(int=9)),
    remembered("User wants to move to Oslo.", 31, predicate="has_goal", session=UUID(int=9)),
)


class FixedMemories(InMemoryStore):
    """A reader with the same memories for every end user."""

    def all_if_few(self, **_: Any) -> tuple[tuple[KnownEntity, ...], tuple[StoredMemory, ...]]:
        return (), MEMORIES


def goal(**changes: Any) -> dict[str, Any]:
    given = {
        "kind": "goal", "content": "User is exploring a move to Bergen.", "evidence": "a flat in Bergen",
        "source_turn_ids": ["t1"],
    }  # fmt: skip
    return {**given, **changes}


def reviewed(
    *answers: dict[str, Any], turns: tuple[SourceTurn, ...] = SAID, **limits: Any
) -> tuple[Draft, ScriptedModel]:
    model = ScriptedModel(lambda _: listing(*answers))
    ports = ports_of(FixedMemories(), model=model)
    extraction = ExtractionPolicy.model_validate({"extractor": "model", "min_session_turns": 1, **limits})
    return run_session(draft_of((), turns=turns).evolve(policy=Policy(extraction=extraction)), ports), model


def test_it_is_shown_what_is_known_of_its_session_and_others() -> None:
    _, model = reviewed()
    context = model.asked[0].context
    assert all(f"User owns boat {n}." in context for n in range(20))
    assert ("wants to move to Oslo" in context, "lives in Leeds" in context) == (True, True)


def test_a_goal_expires() -> None:
    draft, _ = reviewed(goal(), session_memory_days=30)
    (found,) = draft.candidates
    assert (found.valid_until, found.valid_until_precision) == (MONDAY + timedelta(days=30), Precision.DAY)
    assert reviewed(goal())[0].candidates[0].valid_until == MONDAY + timedelta(days=90)


def test_a_goal_replaces_the_one_that_it_continues_or_ends_and_no_fact() -> None:
    draft, _ = reviewed(goal(replaces=["m22", "m21", "m99"]))
    assert draft.candidates[0].replaces == (UUID(int=31),)


@pytest.mark.parametrize("kind", ["summary", "theme"])
def test_there_are_no_summaries(kind: str) -> None:
    assert reviewed(goal(kind=kind))[0].candidates == ()


def test_a_secret_is_refused() -> None:
    draft, _ = reviewed(goal(content="User uses the password hunter2.", evidence="My password is hunter2"))
    assert [drop.reason for drop in draft.drops] == [Reason.SECRET]
    assert "hunter2" not in repr(draft.drops)


def test_of_too_many_the_more_important_stay() -> None:
    answers = [goal(importance=n / 10, source_turn_ids=[f"t{n % 2 + 1}"]) for n in range(8)]
    draft, _ = reviewed(*answers, max_per_session=3)
    assert [each.importance for each in draft.candidates] == [0.5, 0.6, 0.7]


def test_a_short_session_is_not_reviewed() -> None:
    draft, model = reviewed(goal(), min_session_turns=3)
    assert (draft.candidates, model.asked) == ((), [])
