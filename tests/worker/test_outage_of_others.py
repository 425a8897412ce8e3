"""Embedders and judges that don't answer are waited for as well."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from apps.common.errors import ProviderError
from apps.memories.live_ports import live
from apps.outbox.models import ModelPause, OutboxRow
from apps.pipeline.core.enums import (
    TraceStatus,
    WorkState,
)
from apps.pipeline.core.model_calls import ModelAnswer, ModelFailed, ModelRequest, Purpose
from apps.pipeline.core.ports import Embedder, Vector
from apps.traces.models import ModelCall
from tests.outbox.outbox_factories import make_try_due
from tests.pipeline.answers import listing, memory, new_turns
from tests.worker.flaky_model import FACT, MODEL, work
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db


@dataclass
class FlakyEmbedder:
    """An embedding server that is down until it is up."""

    within: Embedder
    is_down: bool = True
    name: str = "openai:embedding"

    @property
    def dimension(self) -> int:
        return self.within.dimension

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        if self.is_down:
            raise ProviderError("connection refused")
        return self.within.embed(texts)


def test_an_embedding_server_that_is_down_costs_no_attempt_either(ana: Person) -> None:
    flaky = FlakyEmbedder(live().embedder)
    ports = replace(live(), embedder=flaky)
    ana.says(FACT)
    for _ in range(7):
        work(ports)
        make_try_due()
    assert ana.statuses() == [TraceStatus.QUEUED]
    assert ModelPause.objects.get().kind == "embedder"
    flaky.is_down = False
    make_try_due()
    work(ports)
    assert set(OutboxRow.objects.values_list("state", flat=True)) == {WorkState.DONE}


@dataclass
class FlakyJudge:
    """A model that extracts where somebody lives, and judges nothing while it is down."""

    is_down: bool = True

    def complete(self, request: ModelRequest) -> ModelAnswer:
        if request.purpose is Purpose.JUDGE_PAIRS and self.is_down:
            raise ModelFailed("connection refused")
        homes = [
            memory(f"User lives in {text.split()[-1]}", evidence=text, turn=turn, predicate="lives_in")
            | {"object": {"literal": text.split()[-1].rstrip(".")}, "predicate_is_stateful": True}
            for turn, text in new_turns(request).items()
        ]
        judged = json.dumps({"answers": [{"id": "q1", "reason": "moved", "verdict": "replaces"}]})
        return ModelAnswer(text=judged if request.purpose is Purpose.JUDGE_PAIRS else listing(*homes), model="tested")


def test_a_judge_that_does_not_answer_is_waited_for(ana: Person, settings: Any) -> None:
    settings.MODEL = MODEL
    judge = FlakyJudge()
    ports = replace(live(), model=judge)
    ana.says("I live in Lisbon.")
    work(ports)
    ana.says("I live in Porto.")
    work(ports)
    assert (ana.statuses()[-1], ana.memories()) == (TraceStatus.QUEUED, ["User lives in Lisbon."])
    assert set(ModelCall.objects.values_list("purpose", flat=True)) >= {"judge_pairs"}

    judge.is_down = False
    make_try_due()
    work(ports)
    assert (ana.statuses()[-1], ana.memories()) == (TraceStatus.DONE, ["User lives in Porto."])
