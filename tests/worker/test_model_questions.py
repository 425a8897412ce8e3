"""The model is asked for the questions that memories answer: in the background, ten memories per call, once."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from apps.memories.live_ports import live
from apps.memories.models import Memory, MemoryVector
from apps.memories.services.indexing import WAIT
from apps.outbox.models import ModelPause, OutboxRow, UserLease
from apps.pipeline.core.enums import ExtractorKind, WorkKind, WorkState
from apps.pipeline.core.model_calls import FailureKind, ModelAnswer, ModelFailed, ModelRequest, Purpose
from apps.pipeline.core.policy import ExtractionPolicy, IndexPolicy, Policy
from apps.pipeline.core.ports import Ports
from apps.pipeline.indexing.model_questions import MEMORIES_PER_CALL
from apps.projects.services import configure
from apps.providers.fake import ScriptedModel
from apps.tenants.models import Project
from apps.traces.models import ModelCall
from tests.pipeline.answers import listing, memory, new_turns
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db
HOBBIES = (
    "sailing chess opera gardening climbing painting baking judo yoga fishing "
    "archery pottery cricket knitting surfing juggling fencing origami birdwatching rowing"
).split()
Answer = Callable[[ModelRequest], ModelAnswer | str]


def questions(request: ModelRequest) -> str:
    """Write one question for each statement of a request."""
    number = sum(line.startswith("m") for line in request.turns.splitlines())
    return json.dumps({"memories": [{"id": f"m{n}", "questions": [f"Written {n}?"]} for n in range(1, number + 1)]})


class HobbyModel(ScriptedModel):
    """Extracts hobbies, and answers what a test wants when it is asked for questions."""

    def __init__(self, ask: Answer = questions) -> None:
        super().__init__(lambda request: ask(request) if is_for_questions(request) else hobbies_in(request))

    def calls_for_questions(self) -> list[ModelRequest]:
        return [request for request in self.asked if is_for_questions(request)]


def is_for_questions(request: ModelRequest) -> bool:
    return request.purpose is Purpose.INDEX_QUESTIONS


def hobbies_in(request: ModelRequest) -> str:
    said = {turn: text.removeprefix("I like ").removesuffix(".") for turn, text in new_turns(request).items()}
    return listing(*(_likes(hobby, f"I like {hobby}", turn) for turn, hobby in said.items()))


def _likes(hobby: str, evidence: str, turn: str = "t1") -> dict[str, Any]:
    return memory(f"User likes {hobby}.", evidence=evidence, turn=turn, predicate="likes", value=hobby)


def ports_of(model: HobbyModel) -> Ports:
    return replace(live(), model=model, has_usual_model=True)


def tell(person: Person, model: HobbyModel, hobbies: list[str]) -> None:
    """Say some hobbies, one session per ten, and do all the work that follows."""
    for start in range(0, len(hobbies), 10):
        said = (f"I like {hobby}." for hobby in hobbies[start : start + 10])
        person.says(*said, session=f"session {start}")
        person.is_worked_for(ports_of(model))


def written() -> list[str]:
    return [text for row in MemoryVector.objects.exclude(questions_by="") for text in row.questions]


def test_ten_memories_are_one_call(ana: Person) -> None:
    model = HobbyModel()
    tell(ana, model, HOBBIES[:10])

    (call,) = model.calls_for_questions()
    assert all(hobby in call.turns for hobby in HOBBIES[:10])
    assert sorted(written()) == sorted(f"Written {number}?" for number in range(1, 11))
    assert {row.questions_by for row in MemoryVector.objects.all()} == {"scripted"}


@pytest.mark.parametrize(("memories", "calls"), [(9, 0), (20, 2)])
def test_there_is_at_most_one_call_per_ten_memories(ana: Person, memories: int, calls: int) -> None:
    model = HobbyModel()
    tell(ana, model, HOBBIES[:memories])
    assert Memory.objects.count() == memories
    assert len(model.calls_for_questions()) == calls == memories // MEMORIES_PER_CALL


def wait(ana: Person, model: HobbyModel) -> None:
    """Let the time pass in which memories wait for others, and work."""
    OutboxRow.objects.filter(kind=WorkKind.ASK_QUESTIONS, state=WorkState.PENDING).update(run_at=timezone.now() - WAIT)
    UserLease.objects.update(ready_at=timezone.now())
    ana.is_worked_for(ports_of(model))


def test_fewer_memories_wait_for_others_less_than_a_minute(ana: Person) -> None:
    model = HobbyModel()
    tell(ana, model, HOBBIES[:3])
    assert timedelta(0) < WAIT < timedelta(minutes=1)
    assert model.calls_for_questions() == []
    wait(ana, model)
    (call,) = model.calls_for_questions()
    assert all(hobby in call.turns for hobby in HOBBIES[:3])
    assert len(written()) == 3
    wait(ana, model)
    assert len(model.calls_for_questions()) == 1


def test_a_word_of_its_questions_finds_a_memory(ana: Person, client: APIClient) -> None:
    def ask(request: ModelRequest) -> str:
        word = {"pottery": "céramique clay", "sailing": "boats"}
        statements = [line for line in request.turns.splitlines() if line.startswith("m")]
        found = [next((words for hobby, words in word.items() if hobby in line), "other") for line in statements]
        return json.dumps({"memories": [{"id": f"m{n}", "questions": [each]} for n, each in enumerate(found, start=1)]})

    tell(ana, HobbyModel(ask), [*HOBBIES[:10], "pottery"])
    wait(ana, HobbyModel(ask))
    for word in ("céramique", "ceramique", "clay"):
        found = client.post("/v1/memories/search", {"user_id": "ana", "query": word}).json()["results"]
        assert [hit["content"] for hit in found] == ["User likes pottery."]


def test_the_plain_extractor_is_asked_for_no_questions(project: Project, ana: Person, settings: Any) -> None:
    settings.MODEL = "openai:tested"
    configure(project_id=project.id, policy=Policy(extraction=ExtractionPolicy(extractor=ExtractorKind.PLAIN)))
    ana.says("I live in Lisbon.")
    ana.is_worked_for()
    assert not OutboxRow.objects.filter(kind=WorkKind.ASK_QUESTIONS).exists()


def test_the_call_is_recorded_with_the_trace_of_a_memory(ana: Person) -> None:
    tell(ana, HobbyModel(), HOBBIES[:10])
    call = ModelCall.objects.get(purpose=Purpose.INDEX_QUESTIONS)
    assert (call.model, call.error) == ("scripted", "")
    assert call.trace_id in set(Memory.objects.values_list("trace_id", flat=True))


@pytest.mark.parametrize("answer", ["no idea", '{"memories": [{"id": "m1"}]}'])
def test_a_useless_answer_leaves_the_templates_and_is_not_asked_for_again(ana: Person, answer: str) -> None:
    model = HobbyModel(lambda _: answer)
    tell(ana, model, HOBBIES[:10])
    tell(ana, model, HOBBIES[10:12])
    assert len(model.calls_for_questions()) == 1
    assert "Written 1?" not in written()
    assert all(row.questions for row in MemoryVector.objects.all())
    assert ModelCall.objects.get(purpose=Purpose.INDEX_QUESTIONS).error == "unparsable"


def failing(kind: FailureKind) -> Answer:
    def fail(_: ModelRequest) -> str:
        raise ModelFailed("out of order", kind=kind)

    return fail


def test_a_refused_call_leaves_the_templates(ana: Person) -> None:
    model = HobbyModel(failing(FailureKind.REFUSED))
    tell(ana, model, HOBBIES[:12])
    assert len(model.calls_for_questions()) == 1
    wait(ana, model)
    assert len(model.calls_for_questions()) == 2
    assert set(OutboxRow.objects.values_list("state", flat=True)) == {WorkState.DONE}


def test_an_unavailable_model_pauses_the_questions_and_nothing_else(ana: Person) -> None:
    tell(ana, HobbyModel(failing(FailureKind.UNAVAILABLE)), HOBBIES[:10])

    assert ModelPause.objects.count() == 1
    waiting = OutboxRow.objects.exclude(state=WorkState.DONE)
    assert [(row.kind, row.state, row.attempts) for row in waiting] == [(WorkKind.ASK_QUESTIONS, WorkState.PENDING, 0)]
    assert MemoryVector.objects.count() == Memory.objects.count() == 10


@pytest.mark.parametrize("policy", [IndexPolicy(model_questions=False), IndexPolicy(questions=0)])
def test_a_project_may_forbid_it(project: Project, ana: Person, policy: IndexPolicy) -> None:
    configure(project_id=project.id, policy=Policy(index=policy))
    model = HobbyModel()
    tell(ana, model, HOBBIES[:10])
    assert model.calls_for_questions() == []


def test_a_foreign_quote_is_shown_and_stays_searchable(ana: Person) -> None:
    model = HobbyModel()
    tell(ana, model, HOBBIES[:9])
    assert written() == []
    german = _likes("rowing", "Ich mag Rudern sehr")
    script = ScriptedModel(lambda request: questions(request) if is_for_questions(request) else listing(german))
    ana.says("Ich mag Rudern sehr, das ist mein Sport.", session="german")
    ana.is_worked_for(replace(live(), model=script, has_usual_model=True))

    (call,) = (request for request in script.asked if is_for_questions(request))
    assert "User likes rowing. | quote: Ich mag Rudern sehr" in call.turns
    assert MemoryVector.objects.get(memory__content="User likes rowing.").questions == [
        "Written 10?",
        "Ich mag Rudern sehr",
    ]


def test_a_server_that_names_no_model_is_asked_once(ana: Person) -> None:
    model = HobbyModel(lambda request: ModelAnswer(text=questions(request), model=""))
    tell(ana, model, HOBBIES[:12])
    assert len(model.calls_for_questions()) == 1
