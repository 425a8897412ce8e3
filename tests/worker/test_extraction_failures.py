"""Answers that can't be used, failures of the model, and what then happens to turns."""

from typing import Any

import pytest

from apps.memories.models import Memory
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import TraceStatus, WorkState
from apps.traces.models import ModelCall, Span, Trace
from benchmarks.model_server import ModelServer, Reply
from tests.outbox.outbox_factories import make_due
from tests.pipeline.answers import listing
from tests.worker.answering_model import extracted_with
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db


def test_an_answer_that_is_not_json_is_requested_again(ana: Person, model_server: ModelServer) -> None:
    replies = iter([Reply(text="Sure! Here they are."), Reply(text=listing())])
    model_server.answering = lambda _: next(replies)
    ana.says("I live in Lisbon.")
    ana.is_worked_for()

    assert [call.error for call in ModelCall.objects.order_by("created_at", "id")] == ["unparsable", ""]
    assert "not JSON" in model_server.asked[-1].turns
    assert ana.statuses() == [TraceStatus.DONE]


@pytest.mark.parametrize(
    ("reply", "kind", "calls"),
    [(Reply(text="no"), "unparsable", 4), (Reply(text="I can't help with that.", stop="refused"), "refused", 1)],
)
def test_what_can_not_be_used_ends_the_trace_and_nothing_else(
    ana: Person, model_server: ModelServer, reply: Reply, kind: str, calls: int
) -> None:
    model_server.answering = lambda _: reply
    ana.says("I live in Lisbon.")
    ana.is_given_up()

    trace = Trace.objects.get()
    assert (trace.status, trace.error) == (TraceStatus.EXTRACTION_FAILED, f"the answer was {kind}")
    assert trace.finished_at is not None
    assert ModelCall.objects.filter(trace=trace, error=kind).count() == calls
    assert Span.objects.get(trace=trace, stage="extract").result == "error"
    assert set(OutboxRow.objects.values_list("state", flat=True)) == {WorkState.DONE}
    assert not Memory.objects.exists()


def test_an_unreadable_answer_has_a_second_run(ana: Person, model_server: ModelServer) -> None:
    model_server.answering = lambda _: Reply(text="no")
    ana.says("I live in Lisbon.")
    ana.is_worked_for()
    assert (ana.statuses(), Trace.objects.get().error) == ([TraceStatus.QUEUED], "the answer was unparsable")
    assert ana.is_worked_for() == 0, "it waits"

    model_server.answering = lambda _: Reply(text=listing())
    make_due(ana.id)
    ana.is_worked_for()
    assert ana.statuses() == [TraceStatus.DONE]
    assert ModelCall.objects.count() == 3, "what was paid stays recorded"


def test_of_requests_that_share_a_call_only_the_one_that_is_refused_dies(
    ana: Person, model_server: ModelServer
) -> None:
    model_server.answering = lambda asked: Reply(status=400) if "Lisbon" in asked.turns else Reply(text=listing())
    ana.says("I work as a nurse.")
    ana.says("I live in Lisbon.")
    ana.is_worked_for()
    assert ana.statuses() == [TraceStatus.QUEUED] * 2
    make_due(ana.id)
    ana.is_worked_for()
    make_due(ana.id)
    ana.is_worked_for()
    assert ana.statuses() == [TraceStatus.DONE, TraceStatus.DEAD]


def test_a_named_model_whose_key_is_missing_says_so_and_waits_for_it(
    ana: Person, model_server: ModelServer, settings: Any
) -> None:
    settings.MODEL, settings.ANTHROPIC_API_KEY = "", ""
    extracted_with(ana.project, model="anthropic:claude-sonnet-4-5")
    ana.says("I live in Porto now.")
    ana.is_worked_for()

    (row,) = OutboxRow.objects.all()
    assert (row.state, len(model_server.asked)) == (WorkState.PENDING, 0)
    assert "'anthropic:claude-sonnet-4-5' needs ANTHROPIC_API_KEY" in row.last_error
