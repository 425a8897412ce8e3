"""Synchronous requests: the calling process does the work under a lease, and stops at the deadline."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import pytest
from django.db import connection

from apps.outbox.models import ModelPause, OutboxRow, UserLease
from apps.pipeline.core.enums import TraceStatus, WorkState
from apps.worker.run_now import run_now
from benchmarks.model_server import ModelServer, Reply
from tests.outbox.outbox_factories import claim
from tests.pipeline.answers import listing, memory
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 60.0


def leased_until() -> datetime | None:
    try:
        return UserLease.objects.get().leased_until
    finally:
        connection.close()


def test_the_trace_has_ended_and_so_have_those_before_it(ana: Person) -> None:
    ana.says("I live in Lisbon.")
    trace = run_now(accepted=ana.says("I work as a nurse."), wait_seconds=PATIENCE)
    assert trace.status == TraceStatus.DONE
    assert ana.statuses() == [TraceStatus.DONE] * 2
    assert UserLease.objects.get().lease_token is None


def test_the_lease_is_renewed_while_a_model_takes_its_time(
    ana: Person, model_server: ModelServer, settings: Any
) -> None:
    settings.HEARTBEAT_SECONDS = 0.05
    looks = ThreadPoolExecutor(1)  # the server's own thread runs an event loop, in which Django reads nothing

    def is_renewed() -> bool:
        first, deadline = leased_until(), time.monotonic() + PATIENCE
        while leased_until() == first and time.monotonic() < deadline:
            time.sleep(0.02)  # between two looks at the lease
        return leased_until() != first

    def answer_once_renewed(_: object) -> Reply:
        renewed.append(looks.submit(is_renewed).result())
        return Reply(text=listing(memory("User lives in Porto.", evidence="I live in Porto", value="Porto")))

    renewed: list[bool] = []
    model_server.answering = answer_once_renewed
    run_now(accepted=ana.says("I live in Porto now."), wait_seconds=PATIENCE)
    assert renewed == [True]
    assert ana.memories() == ["User lives in Porto."]


def test_what_is_not_done_in_time_is_left_to_the_workers(ana: Person, model_server: ModelServer) -> None:
    """The first call outlasts the caller's patience; the second turn, of another session, is not begun."""
    gave_up, answered = threading.Event(), []

    def answer_too_late(_: object) -> Reply:
        answered.append(gave_up.wait(PATIENCE))
        return Reply(text=listing())

    model_server.answering = answer_too_late
    ana.says("I live in Porto now.", session="monday")
    accepted = ana.says("I work as a nurse.", session="tuesday")
    trace = run_now(accepted=accepted, wait_seconds=1.0)
    assert answered == [], "the caller has waited for the model"
    gave_up.set()
    assert trace.status == TraceStatus.QUEUED
    assert ana.statuses() == [TraceStatus.QUEUED] * 2
    assert set(OutboxRow.objects.values_list("state", "attempts")) == {(WorkState.PENDING, 0)}
    assert not ModelPause.objects.exists(), "the caller's patience says nothing about the model"
    assert len(claim()) == 1


def test_a_caller_waits_no_longer_than_it_said(ana: Person) -> None:
    accepted = ana.says("I live in Lisbon.")
    claim()
    assert run_now(accepted=accepted, wait_seconds=0.1).status == TraceStatus.QUEUED
