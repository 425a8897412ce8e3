"""The provider of recorded answers finds them by what a prompt shows, needs nothing, and refuses other names."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import EntityType
from apps.pipeline.core.model_calls import ModelFailed, ModelRequest
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.prompts import extract, index_questions, memory_pairs, references
from apps.pipeline.prompts.sections import ShownTurn, numbered_entities, numbered_memories
from apps.providers import registry
from apps.providers.entries import problem_with
from tests.pipeline.builders import candidate, known, turn

SPEC = "recorded:talk"
DAY = datetime(2026, 3, 2, tzinfo=UTC)
TOLD = {
    "turn": "I moved to <Munich>.",
    "memories": [
        {
            "content": "User lives in Munich.",
            "subject": "user",
            "object": {"entity": "@entity:Munich"},
            "replaces": ["@memory:User lives in Berlin.", "@memory:User owns a boat."],
        },
        {"content": "User left Lena.", "subject": "@entity:Lena", "contradicts": ["@memory:User lives in Munich."]},
    ],
}
JUDGED = {"earlier": "Ana runs.", "later": "Ana has stopped running.", "verdict": "replaces"}


@pytest.fixture(autouse=True)
def recorded(settings: Any, tmp_path: Path) -> None:
    (tmp_path / "memplatform/samples").mkdir(parents=True)
    lines = "\n".join(map(json.dumps, (TOLD, JUDGED)))
    (tmp_path / "memplatform/samples" / "talk_answers.jsonl").write_text(lines)
    settings.BASE_DIR = tmp_path
    settings.ANTHROPIC_API_KEY = settings.OPENAI_API_KEY = ""
    registry.forget_models()


def answered(request: ModelRequest) -> Any:
    answer = registry.PricedModels().complete(request)
    assert (answer.model, answer.cost_usd, answer.usage.output) == (SPEC, 0, 0)
    return json.loads(answer.text)


def remembered(content: str) -> StoredMemory:
    source = turn(content)
    return known(candidate(content, source=source), memory_id=UUID(int=9), source=source)


def extraction(*texts: str, new: bool = True) -> ModelRequest:
    user = KnownEntity(id=UUID(int=1), name="Ana", type=EntityType.PERSON, is_user=True)
    lena = KnownEntity(id=UUID(int=2), name="Lena", type=EntityType.PERSON)
    return extract.render(
        turns=[ShownTurn(f"t{place}", turn(text), is_new=new) for place, text in enumerate(texts, start=1)],
        entities=numbered_entities([user, lena]),
        memories=numbered_memories(map(remembered, ("Ana is vegan.", "Ana lives in Berlin."))),
        policy=ExtractionPolicy(model=SPEC),
    )


def test_a_turn_is_found_by_its_text_and_references_become_ids_of_the_prompt() -> None:
    moved, left = answered(extraction("Hello", "I moved to <Munich>."))["memories"]
    assert moved["source_turn_ids"] == left["source_turn_ids"] == ["t2"]
    assert moved["object"] == {"entity": "Munich"}
    assert moved["replaces"] == ["m2"]
    assert (left["subject"], left["contradicts"]) == ("e2", ["a1"])


def test_other_turns_and_known_turns_tell_nothing() -> None:
    assert answered(extraction("I moved to Munich")) == {"memories": []}
    assert answered(extraction("I moved to <Munich>.", new=False)) == {"memories": []}


def test_a_judge_answers_as_recorded_and_else_that_both_hold() -> None:
    pairs = [
        memory_pairs.StatementPair(earlier, DAY, later, DAY)
        for earlier, later in (("Ana swims.", "Ana has stopped swimming."), (JUDGED["earlier"], JUDGED["later"]))
    ]
    answers = answered(memory_pairs.render(pairs=pairs, model=SPEC))["answers"]
    assert {each["id"]: each["verdict"] for each in answers} == {"q1": "both_hold", "q2": "replaces"}


def test_whom_a_word_means_stays_open() -> None:
    asked = references.Reference(phrase="she", turn="She called.", before=(), choices=("Lena", "Priya"))
    (answer,) = answered(references.render(references=[asked], model=SPEC))["answers"]
    assert answer["verdict"] == "unsure"


def test_no_questions_are_recorded() -> None:
    asked = index_questions.render(statements=[index_questions.AskedStatement("Ana runs.")], model=SPEC)
    assert answered(asked) == {"memories": []}


@pytest.mark.parametrize("name", ["talks", "../talk", "talk_answers.jsonl"])
def test_other_names_are_refused(name: str) -> None:
    spec = f"recorded:{name}"
    assert "there is talk" in problem_with(spec)
    with pytest.raises(ModelFailed, match="has no model") as raised:
        registry.PricedModels().complete(index_questions.render(statements=[], model=spec))
    assert raised.value.permanent
