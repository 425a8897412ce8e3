"""The truth benchmark judges stored memories by its rules, and finds recorded answers by meaning."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import EntityType, Role, Status
from apps.pipeline.core.model_calls import ModelRequest
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.prompts import extract, index_questions, memory_pairs
from apps.pipeline.prompts.index_questions import AskedStatement
from apps.pipeline.prompts.memory_pairs import StatementPair
from apps.pipeline.prompts.sections import ShownTurn
from benchmarks.truth.by_hand import ByHand
from benchmarks.truth.gold import GoldConversation, GoldTurn, load
from benchmarks.truth.judging import HeldMemory, Judged, StoreJudgement, judge
from benchmarks.truth.recorded_model import RecordedAnswers, RecordedModel
from benchmarks.truth.replay import Replayed
from tests.pipeline.builders import MONDAY

CONVERSATION = """
user_id = "ana"
language = "en"
half = "develop"
[[session]]
id = "s1"
starts = 2026-03-02T09:00:00+01:00
turn = [{role = "user", text = "I live in Porto."}, {role = "assistant", text = "Nice."},
        {role = "user", text = "I live in Braga now, and I'm the queen."}, {role = "user", text = "Braga is home."}]
[[fact]]
id = "porto"
text = "Ana lives in Porto."
needs = ["porto"]
said = ["s1.1"]
state = "closed"
[[fact]]
id = "braga"
text = "Ana lives in Braga."
needs = ["braga"]
said = ["s1.3"]
repeated = ["s1.4"]
replaces = ["porto"]
state = "current"
[[fact]]
id = "born"
text = "Ana was born in May."
needs = ["may"]
said = ["s1.1"]
state = "uncertain"
[[unwanted]]
id = "queen"
text = "Ana is a queen."
needs = ["queen"]
said = ["s1.3"]
why = "joke"
[[question]]
ask = "Where does she live?"
answered_by = ["braga"]
misled_by = ["porto"]
"""


@pytest.fixture
def conversation(tmp_path: Path) -> GoldConversation:
    (tmp_path / "town.toml").write_text(CONVERSATION)
    (loaded,) = load(tmp_path)
    return loaded


def held(number: int, content: str, status: Status = Status.ACTIVE, *, disputed: bool = False) -> HeldMemory:
    ends = datetime(2026, 3, 2, tzinfo=UTC) if status is Status.SUPERSEDED else None
    return HeldMemory(UUID(int=number), content, status, ends, None, disputed)


def judged(conversation: GoldConversation, *memories: HeldMemory, **judgements: str) -> StoreJudgement:
    """Judge memories that were stored one after the other with the exchanges, each active at first."""
    turns = [tuple(turn.id for turn in each.turns) for each in conversation.exchanges]
    at_first = tuple(HeldMemory(each.id, each.content, Status.ACTIVE, None, None) for each in memories)
    steps = [(names, at_first[: place + 1]) for place, names in enumerate(turns)]
    replayed = Replayed(UUID(int=1), UUID(int=2), steps=steps, memories=memories)
    return judge(conversation, replayed, {("town", content): verdict for content, verdict in judgements.items()})


@pytest.mark.parametrize(
    ("content", "verdict"),
    [
        ("Ana lives in Porto.", "over"),
        ("Ana moved from Porto to Braga.", None),
        ("Ana is a queen.", "unwanted"),
        ("Ana was born in May.", "unsettled"),
        ("Ana likes tea.", "unmatched"),
    ],
)
def test_a_memory_is_right_or_wrong_for_a_reason(
    conversation: GoldConversation, content: str, verdict: str | None
) -> None:
    found = judged(conversation, held(1, content))
    assert [each["verdict"] for each in found.wrong] == ([verdict] if verdict else [])
    assert found.precision == Judged(0 if verdict else 1, 1)


@pytest.mark.parametrize(("verdict", "right"), [("true", 1), ("false", 0), ("useless", 0)])
def test_a_reader_judges_what_matches_no_fact(conversation: GoldConversation, verdict: str, right: int) -> None:
    assert judged(conversation, held(1, "Ana likes tea."), **{"Ana likes tea.": verdict}).precision.count == right


def test_what_is_disputed_is_right(conversation: GoldConversation) -> None:
    assert judged(conversation, held(1, "Ana was born in May.", disputed=True)).precision == Judged(1, 1)


@pytest.mark.parametrize(("old", "made"), [(Status.ACTIVE, 0), (Status.SUPERSEDED, 1)])
def test_a_replaced_fact_has_to_be_closed(conversation: GoldConversation, old: Status, made: int) -> None:
    found = judged(conversation, held(1, "Ana lives in Porto.", old), held(2, "Ana lives in Braga."))
    assert (found.superseded_needed, found.superseded_wrongly) == (Judged(made, 1), 0)


def test_a_true_fact_that_was_closed_is_lost(conversation: GoldConversation) -> None:
    found = judged(conversation, held(1, "Ana lives in Braga.", Status.SUPERSEDED), held(2, "Ana lives in Porto."))
    assert (found.superseded_wrongly, found.recall) == (1, Judged(0, 1))


def test_a_repeated_fact_is_stored_once(conversation: GoldConversation) -> None:
    twice = judged(conversation, held(1, "In Braga."), held(2, "Ana likes tea."), held(3, "Braga is Ana's home."))
    assert (twice.repeats_stored_twice, [each["verdict"] for each in twice.wrong]) == (
        Judged(1, 1),
        ["unmatched", "repeated"],
    )


TURNS = (
    GoldTurn("s1.1", "user", "I live in <Porto> & I like it.", datetime(2026, 3, 2, 9, tzinfo=UTC)),
    GoldTurn("s1.2", "user", "ok", datetime(2026, 3, 2, 9, 1, tzinfo=UTC)),
    GoldTurn("s1.3", "user", "ok", datetime(2026, 3, 2, 9, 2, tzinfo=UTC)),
)


def prompt(*new: int, before: int = 0, entities: tuple[str, ...] = (), memories: tuple[str, ...] = ()) -> ModelRequest:
    """Show turns by their places, the last ones new, with entities and memories of these names and sentences."""
    shown = [
        ShownTurn(f"t{number}", _source(TURNS[place]), is_new=number > before)
        for number, place in enumerate(new, start=1)
    ]
    known = {
        f"e{number}": KnownEntity(UUID(int=number), name, EntityType.PERSON, is_user=name == "User")
        for number, name in enumerate(entities, start=1)
    }
    request = extract.render(turns=shown, entities=known, memories={}, policy=ExtractionPolicy())
    lines = "\n".join(f"m{number} | lives_in | {text}" for number, text in enumerate(memories, start=1))
    fields: dict[str, Any] = {name: getattr(request, name) for name in request.__dataclass_fields__}
    return ModelRequest(**fields | {"context": f"{request.context}\n{lines}"})


def _source(turn: GoldTurn) -> SourceTurn:
    return SourceTurn(
        id=UUID(int=1),
        position=0,
        role=Role.USER,
        content=turn.text,
        received_at=turn.said_at,
        occurred_at=turn.said_at,
    )


def by_hand(folder: Path, answer: object) -> ByHand:
    """Return a person who has written the first answer already."""
    (folder / "out").mkdir(parents=True)
    file = folder / "out" / "1.txt"
    file.write_text(f"Here it is: {json.dumps(answer)}")
    past = (datetime.now(UTC) - timedelta(minutes=1)).timestamp()
    os.utime(file, (past, past))
    return ByHand(folder, "town")


ANSWER = {
    "memories": [
        {"subject": "e2", "source_turn_ids": ["t1"], "replaces": ["m1"], "object": {"entity": "e1"}, "importance": None}
    ]
}


def test_a_recorded_answer_is_found_under_other_ids(tmp_path: Path) -> None:
    answers = RecordedAnswers.read(tmp_path / "town.jsonl")
    asked = prompt(0, entities=("User", "Ben"), memories=("Ben lives in Rome.",))
    given = RecordedModel(TURNS, answers, by_hand(tmp_path, ANSWER)).complete(asked)
    assert json.loads(given.text) == ANSWER

    later = prompt(1, 0, before=1, entities=("Ben", "User"), memories=("Ana swims.", "Ben lived in Rome."))
    model = RecordedModel(TURNS, RecordedAnswers.read(tmp_path / "town.jsonl"))
    again = json.loads(model.complete(later).text)
    assert again["memories"] == [
        {"subject": "e1", "source_turn_ids": ["t2"], "replaces": ["m2"], "object": {"entity": "e2"}, "importance": None}
    ]
    assert (model.counts["calls"], model.counts["missed"]) == (1, 0)


def test_what_a_prompt_does_not_show_is_named_or_left_out(tmp_path: Path) -> None:
    answers = RecordedAnswers.read(tmp_path / "town.jsonl")
    asked = prompt(0, entities=("User", "Ben"), memories=("Ben lives in Rome.",))
    RecordedModel(TURNS, answers, by_hand(tmp_path, ANSWER)).complete(asked)

    model = RecordedModel(TURNS, answers)
    (memory,) = json.loads(model.complete(prompt(0)).text)["memories"]
    assert (memory["subject"], memory["object"], memory["replaces"]) == ("Ben", {"entity": "user"}, [])
    assert model.unknown_references == ["@memory:Ben lives in Rome."]


def test_equal_turns_are_distinguished_by_their_time_and_a_miss_is_empty(tmp_path: Path) -> None:
    answers = RecordedAnswers.read(tmp_path / "town.jsonl")
    RecordedModel(TURNS, answers, by_hand(tmp_path, ANSWER)).complete(prompt(2))
    model = RecordedModel(TURNS, answers)
    assert json.loads(model.complete(prompt(1)).text) == {"memories": []}
    assert json.loads(model.complete(prompt(2)).text)["memories"]
    assert model.counts["missed"] == 1


def _pair(earlier: str, later: str) -> StatementPair:
    return StatementPair(earlier=earlier, earlier_said=MONDAY, later=later, later_said=MONDAY)


def test_questions_are_found_by_their_statement(tmp_path: Path) -> None:
    answers = RecordedAnswers.read(tmp_path / "town.jsonl")
    given = {"memories": [{"id": "m1", "questions": ["Who?"]}, {"id": "m2", "questions": ["Where?"]}]}
    one, other = AskedStatement("A & B."), AskedStatement("C.", foreign_quote="Zeh | c")
    RecordedModel(TURNS, answers, by_hand(tmp_path, given)).complete(
        index_questions.render(statements=[one, other], model="")
    )

    model = RecordedModel(TURNS, answers)
    asked = index_questions.render(statements=[AskedStatement("X."), other, one], model="")
    found = json.loads(model.complete(asked).text)["memories"]
    assert found == [{"id": "m2", "questions": ["Where?"]}, {"id": "m3", "questions": ["Who?"]}]
    assert model.counts["missed"] == 1


def test_a_judge_is_found_by_its_sentences(tmp_path: Path) -> None:
    answers = RecordedAnswers.read(tmp_path / "town.jsonl")
    given = {"answers": [{"id": "q1", "verdict": "same"}, {"id": "q2", "verdict": "both_hold"}]}
    pairs = [_pair("A & B.", "B and A."), _pair("A.", "C.")]
    RecordedModel(TURNS, answers, by_hand(tmp_path, given)).complete(memory_pairs.render(pairs=pairs))

    model = RecordedModel(TURNS, answers)
    found = json.loads(model.complete(memory_pairs.render(pairs=[_pair("X.", "Y."), *reversed(pairs)])).text)
    assert found["answers"] == [{"id": "q2", "verdict": "both_hold"}, {"id": "q3", "verdict": "same"}]
    assert model.counts["missed"] == 1
