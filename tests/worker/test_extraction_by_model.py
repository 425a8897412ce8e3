"""Turns extracted by a model over HTTP, from the request to memories, pages and queued work."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from apps.intake.sessions import end_session
from apps.memories.live_ports import ConnectionReleasingModel
from apps.memories.models import Memory
from apps.pipeline.core.enums import ExtractorKind, OnModelFailure, Status, TraceStatus
from apps.pipeline.core.model_calls import ModelAnswer
from apps.pipeline.core.policy import ExtractionPolicy, Policy
from apps.pipeline.prompts.extract import render
from apps.projects.services import configure
from apps.providers.fake import ScriptedModel
from apps.tenants.models import Project
from apps.traces.models import ModelCall, Trace
from benchmarks.model_server import ModelServer, Reply
from tests.pipeline.answers import listing, memory
from tests.worker.answering_model import AT_ONCE, extracted_with
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db


def answering(*memories: Any) -> Callable[[object], Reply]:
    return lambda _: Reply(text=listing(*memories))


def test_what_the_model_keeps_is_stored_with_its_call(ana: Person, model_server: ModelServer) -> None:
    ana.says("I sold the boat and I live in Porto now.")
    kept = memory("User lives in Porto.", evidence="I live in Porto now", predicate="lives_in", value="Porto")
    model_server.answering = answering(kept)
    ana.is_worked_for()

    (stored,) = Memory.objects.all()
    assert (stored.content, stored.extractor, stored.status) == ("User lives in Porto.", "claude-haiku-4-5", "active")
    assert stored.confidence_parts["extractor"] == pytest.approx(0.25 * 0.85)
    (call,) = ModelCall.objects.all()
    assert (call.trace, call.error, call.model) == (stored.trace, "", "claude-haiku-4-5")
    assert call.prompt_version.startswith("extract-")
    assert (call.cache_write_tokens > 4_096, call.output_tokens > 0, call.cost_usd > 0) == (True, True, True)


def test_an_entry_of_models_is_trusted_as_far_as_it_says(
    ana: Person, project: Project, model_server: ModelServer, settings: Any
) -> None:
    entry = {"provider": "openai", "model": "small", "base_url": f"{model_server.url}/v1", "reliability": 0.5}
    settings.MODELS = {"local": entry}
    configure(project_id=project.id, policy=Policy(extraction=ExtractionPolicy(model="local")))
    ana.says("I live in Porto now.")
    kept = memory("User lives in Porto.", evidence="I live in Porto now", predicate="lives_in", value="Porto")
    model_server.answering = answering(kept)
    ana.is_worked_for()

    (stored,) = Memory.objects.all()
    assert (stored.extractor, stored.confidence_parts["extractor"]) == ("small", pytest.approx(0.25 * 0.5))


def test_the_prompt_contains_what_is_known(ana: Person, model_server: ModelServer) -> None:
    model_server.answering = answering(memory("User has a dog called Rex.", evidence="my dog Rex", value="Rex"))
    ana.says("This is my dog Rex.")
    ana.is_worked_for()
    ana.says("He likes the sea.")
    ana.is_worked_for()

    asked = model_server.asked[-1]
    assert "| User has a dog called Rex." in asked.context
    assert "e1 | User | the user" in asked.context
    assert ">This is my dog Rex.</turn>" in asked.turns
    assert asked.turns.count('new="true"') == 2  # the turn, and the sentence that asks about it


def test_queued_turns_of_a_session_share_a_call(ana: Person, model_server: ModelServer) -> None:
    for number in range(6):
        ana.says(f"I have house number {number} in our street.")
    ana.is_worked_for()

    assert sum("<source_turns>" in asked.turns for asked in model_server.asked) == 1
    assert ModelCall.objects.filter(purpose="extract").count() == 1
    contents = set(Memory.objects.values_list("trace_id", "content"))
    traces = list(Trace.objects.order_by("created_at"))
    assert contents == {
        (trace.id, f'User says: "I have house number {number} in our street."') for number, trace in enumerate(traces)
    }


@pytest.mark.parametrize("reply", [Reply(status=529, headers=AT_ONCE), Reply(status=401), Reply(text="no")])
def test_a_project_may_fall_back_on_the_plain_extractor_whose_finds_wait_for_a_person(
    ana: Person, project: Project, model_server: ModelServer, reply: Reply
) -> None:
    extracted_with(project, on_model_failure=OnModelFailure.PLAIN)
    model_server.answering = lambda _: reply
    ana.says("I live in Lisbon.")
    ana.is_worked_for()

    (stored,) = Memory.objects.all()
    assert (stored.status, stored.source_confidence) == (Status.PENDING_REVIEW, "speculated")
    assert stored.confidence == pytest.approx(0.6 * 0.3 + 0.25 * 0.9)  # of the row of the table
    assert ana.statuses() == [TraceStatus.DONE]
    assert ModelCall.objects.exclude(error="").exists()


def test_stacked_the_model_sees_only_what_the_plain_extractor_leaves(
    ana: Person, project: Project, model_server: ModelServer
) -> None:
    extracted_with(project, extractor=ExtractorKind.STACKED)
    ana.says("I live in Lisbon.")
    ana.says("Boats have always been my undoing, that much is certain.")
    ana.is_worked_for()

    (asked,) = model_server.asked
    assert asked.turns.count('<turn id="t2"') == 1
    assert "undoing" in asked.turns.partition('new="true"')[2].partition("</turn>")[0]
    extractors = set(Memory.objects.values_list("extractor", flat=True))
    assert extractors == {"plain:lives_in", "claude-haiku-4-5"}


def test_a_project_gets_the_model_that_it_names_where_none_is_configured(
    ana: Person, model_server: ModelServer, settings: Any
) -> None:
    settings.MODEL = ""
    extracted_with(ana.project, model="openai:gpt-4.1-mini")
    said = ana.says("I sold the boat and I live in Porto now.")
    ana.is_worked_for()

    assert set(ModelCall.objects.values_list("model", flat=True)) == {"gpt-4.1-mini"}
    assert {row.extractor for row in Memory.objects.all()} == {"gpt-4.1-mini"}
    whose = {"project_id": ana.project.id, "end_user_id": ana.id}
    ended = end_session(**whose, session_id=Trace.objects.get(id=said.trace_id).session_id)
    assert ended is not None


def test_a_project_without_a_model_of_its_own_asks_none_where_none_is_configured(
    ana: Person, model_server: ModelServer, settings: Any
) -> None:
    settings.MODEL = ""
    ana.says("I sold the boat and I live in Porto now.")
    ana.is_worked_for()
    assert len(model_server.asked) == 0
    assert "User lives in Porto." in ana.memories()


@pytest.mark.django_db(transaction=True)
def test_no_connection_is_held_while_a_model_is_called(project: Project) -> None:
    held: list[bool] = []

    def look(_: object) -> str:
        held.append(connection.connection is not None)
        return listing()

    Project.objects.count()
    assert connection.connection is not None
    answer = ConnectionReleasingModel(ScriptedModel(look)).complete(
        render(turns=[], entities={}, memories={}, policy=ExtractionPolicy())
    )
    assert (isinstance(answer, ModelAnswer), held) == (True, [False])
