"""After any answer of a model the trace ends, the tables are consistent, and the caller gets an answer."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.memories.live_ports import live
from apps.memories.models import Memory
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import LIVE_STATUSES, TraceStatus, WorkState
from apps.pipeline.core.model_calls import ModelAnswer, StopReason
from apps.providers.fake import ScriptedModel
from apps.tenants.models import Project
from apps.traces.models import ModelCall, Trace
from tests.outbox.outbox_factories import make_due
from tests.pipeline.answers import memory
from tests.soak import few
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db
SAID = "I live in Lisbon with my sister Lena, and she never eats meat."

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
GOOD = memory("User lives in Lisbon.", evidence="I live in Lisbon", predicate="lives_in", value="Lisbon")
TEXT = st.sampled_from(
    [
        "user",
        "e1",
        "e99",
        "Lena",
        "she",
        "my sister",
        "User",
        "",
        "\x00",
        "\ud800",
        "'; drop table --",
        "a" * 400,
        "日本",
        "1e999",
    ]
)
FIELDS = st.sampled_from(
    [*GOOD, "event_at", "speech_act", "polarity", "importance", "tags", "subject_type", "source_confidence", "topic"]
)
WORDS = st.sampled_from(["event", "relation", "entity", "person", "hypothetical", "negative", "inferred", "2024-02"])
VALUE = TEXT | WORDS | st.floats() | st.lists(TEXT, max_size=3) | st.fixed_dictionaries({"entity": TEXT}) | JSON
NEARLY = st.dictionaries(FIELDS, VALUE, max_size=4).map(lambda changes: {**GOOD, **changes})
ANSWERS = JSON | st.fixed_dictionaries({"memories": JSON | st.lists(NEARLY | JSON, max_size=6)})


@pytest.fixture
def numbers() -> Iterator[int]:
    return count()


@settings(max_examples=few())
@given(answer=ANSWERS, stop=st.sampled_from(StopReason))
def test_any_json(project: Project, numbers: Iterator[int], answer: Any, stop: StopReason) -> None:
    person = Person(project, f"person {next(numbers)}")
    model = ScriptedModel(lambda _: ModelAnswer(text=json.dumps(answer), model="scripted", stop=stop))
    person.says(SAID)
    ports = replace(live(), model=model, has_usual_model=True)
    person.is_worked_for(ports)
    make_due(person.id)
    person.is_worked_for(ports)

    trace = Trace.objects.get(end_user_id=person.id)
    assert trace.status in (TraceStatus.DONE, TraceStatus.EXTRACTION_FAILED)
    rows = OutboxRow.objects.filter(end_user_id=person.id)
    assert {row.state for row in rows} == {WorkState.DONE}, [row.last_error for row in rows]
    stored = Memory.objects.filter(end_user_id=person.id)
    assert {str(each.id.hex) for each in stored} >= {shown.partition("_")[2] for shown in trace.counts["memory_ids"]}
    assert 1 <= ModelCall.objects.filter(trace=trace).count() <= 4
    for each in stored:
        assert each.evidence
        assert each.status in LIVE_STATUSES | {"superseded"}
        assert each.origins.count() == 1
        assert 0 <= each.confidence <= 1
