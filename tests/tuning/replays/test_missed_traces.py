"""Prompts that were never asked: such a trace is missed, or the model is asked if that was allowed."""

from typing import Any

import pytest

from apps.memories.live_ports import ConnectionReleasingModel
from apps.pipeline.core.model_calls import ModelFailed
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.ports import Model
from apps.providers import registry
from apps.providers.fake import ScriptedModel
from apps.tenants.models import Project
from apps.traces.models import ModelCall, ReplayedState
from apps.traces.policies import active_policy
from apps.traces.runs import run_heads
from apps.tuning.replays.replaying import ReplayedRun, UserReplay
from apps.tuning.replays.services import request_replay
from benchmarks.model_server import ModelServer, Reply
from tests.pipeline.answers import listing, memory
from tests.tuning.replays.replay_helper import differences, replay_of, replayed, stored
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db

PORTO = memory("User lives in Porto.", evidence="I live in Porto now", predicate="lives_in", value="Porto")
TEA = memory("User likes tea.", evidence="I like tea", predicate="likes", value="tea")


@pytest.fixture
def ana(project: Project, model_server: ModelServer) -> Person:
    """A person whose second trace says nothing new about the first."""
    ana = Person(project)
    for said, kept in (("I live in Porto now.", PORTO), ("I like tea a lot.", TEA)):
        model_server.answering = lambda _, kept=kept: Reply(text=listing(kept))
        ana.says(said)
        while ana.is_worked_for():
            pass
    return ana


def another_prompt(project: Project) -> Policy:
    """Return a policy that names its model, which every prompt contains."""
    policy = active_policy(project_id=project.pk)
    named = policy.extraction.model_copy(update={"model": "anthropic:claude-haiku-4-5"})
    return policy.model_copy(update={"extraction": named})


def replayed_live(ana: Person, policy: Policy, live: Model) -> list[ReplayedRun]:
    heads = run_heads(end_user_id=ana.id)
    embedder = registry.embedder()
    return list(UserReplay(end_user_id=ana.id, heads=heads, embedder=embedder, policy=policy, live=live).run())


def test_recorded_answers_are_used(ana: Person, model_server: ModelServer) -> None:
    asked = len(model_server.asked)
    runs, _ = replay_of(ana.id)
    assert (differences(runs), len(model_server.asked)) == ([], asked)
    assert [run.totals["calls_after"] for run in runs] == [1, 1]


def test_a_missed_trace_keeps_what_it_has_written(ana: Person) -> None:
    runs, replay = replay_of(ana.id, policy=another_prompt(ana.project))
    assert [run.state for run in runs] == [ReplayedState.MISSED] * 2
    assert "never asked before" in runs[0].error
    assert replayed(replay) == stored(ana.id)


def test_a_model_is_asked_where_that_was_allowed(ana: Person) -> None:
    model = ScriptedModel(lambda request: listing(PORTO if "Porto now" in request.turns else TEA))
    runs = replayed_live(ana, another_prompt(ana.project), ConnectionReleasingModel(model))
    assert [run.state for run in runs] == [ReplayedState.DIFFERENT] * 2  # another extractor has proposed the same
    assert {field["name"] for run in runs for each in run.diff["operations"] for field in each["fields"]} == {
        "candidate.extractor"
    }
    assert len(model.asked) == 2
    assert ModelCall.objects.filter(model="scripted").count() == 0


def test_a_model_that_fails_costs_its_trace_alone(ana: Person) -> None:
    def answer(request: Any) -> str:
        if "Porto now" in request.turns and "tea" not in request.turns:
            raise ModelFailed("too busy")
        return listing(TEA)

    runs = replayed_live(ana, another_prompt(ana.project), ScriptedModel(answer))
    assert (runs[0].state, runs[0].error) == (ReplayedState.FAILED, "too busy")
    assert runs[1].state is not ReplayedState.FAILED


def test_the_estimate_is_what_it_may_cost(ana: Person) -> None:
    estimate = request_replay(project_id=ana.project.pk).estimate
    assert (estimate["recorded_calls"], estimate["new_calls_at_most"]) == (2, 0)
    ModelCall.objects.update(prompt_version="older")
    estimate = request_replay(project_id=ana.project.pk).estimate
    assert (estimate["new_calls_at_most"], estimate["outdated_prompts"]) == (2, ["extract"])
    assert float(estimate["new_cost_usd_at_most"]) == pytest.approx(
        float(sum(ModelCall.objects.values_list("cost_usd", flat=True)))
    )
