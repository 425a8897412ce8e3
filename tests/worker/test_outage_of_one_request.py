"""Failures of a single request, and of a project with a fallback, are no outage."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from apps.outbox.models import ModelPause
from apps.pipeline.core.enums import (
    OnModelFailure,
    TraceStatus,
)
from apps.pipeline.core.model_calls import FailureKind, ModelAnswer, ModelFailed, ModelRequest
from apps.pipeline.core.policy import ExtractionPolicy, Policy
from apps.pipeline.core.ports import Ports
from apps.privacy.users import erase_user
from apps.projects.services import configure
from apps.tenants.models import Project
from apps.traces.models import ModelCall, Trace
from tests.outbox.outbox_factories import let_pass, make_due, make_try_due
from tests.worker.flaky_model import FACT, FlakyModel, work
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db


def test_a_project_with_a_fallback_does_not_ask_a_paused_model(ana: Person, model: FlakyModel, ports: Ports) -> None:
    policy = Policy(extraction=ExtractionPolicy(on_model_failure=OnModelFailure.PLAIN))
    configure(project_id=ana.project.id, policy=policy)
    for city in ("Lisbon", "Porto", "Braga"):
        ana.says(f"I live in {city}.")
        work(ports)
    assert (set(ana.statuses()), len(model.asked)) == ({TraceStatus.DONE}, 1)
    model.failure = None
    make_try_due()
    ana.says("I work as a nurse.")
    work(ports)
    assert not ModelPause.objects.exists()


def test_a_failure_of_the_request_alone_ends_dead(ana: Person, model: FlakyModel, ports: Ports) -> None:
    model.failure = lambda: ModelFailed("no", kind=FailureKind.REFUSED)
    ana.says(FACT)
    for _ in range(5):
        make_due(ana.id)
        work(ports)
    assert (ana.statuses(), ModelPause.objects.count()) == ([TraceStatus.DEAD], 0)


@pytest.mark.parametrize("kind", [FailureKind.REFUSED, FailureKind.UNAVAILABLE])
def test_a_call_that_fails_after_an_erasure_is_not_recorded(
    ana: Person, model: FlakyModel, ports: Ports, kind: FailureKind
) -> None:
    """Its record, and those of the calls before it, would bring back words of somebody who was erased."""

    def fail_after_erasure() -> ModelFailed:
        erase_user(project_id=ana.project.id, user_id=ana.name)
        return ModelFailed("no", kind=kind)

    model.failure = fail_after_erasure
    ana.says(FACT)
    assert ana.is_worked_for(ports) == 0
    assert (len(model.asked), Trace.objects.count(), ModelCall.objects.count()) == (1, 0, 0)


def test_a_request_that_always_times_out_ends_dead_while_others_are_answered(
    ana: Person, project: Project, model: FlakyModel, ports: Ports
) -> None:
    ana.says("My endless story.")
    asked_of = model.complete

    def hang(request: ModelRequest) -> ModelAnswer:
        model.failure = (lambda: ModelFailed("timed out", is_timeout=True)) if "endless" in request.turns else None
        return asked_of(request)

    ports = replace(ports, model=ScriptedBy(hang))
    for number in range(12):
        let_pass(timedelta(minutes=1))  # within the test's one transaction, all rows would be equally old
        bo = Person(project, f"bo {number}")
        bo.says(FACT)
        for _ in range(3):
            work(ports)
            make_try_due()
        assert bo.statuses() == [TraceStatus.DONE]
    assert ana.statuses() == [TraceStatus.DEAD]
    assert ana_error(ana).endswith("timed out")


@dataclass
class ScriptedBy:
    complete: Callable[[ModelRequest], ModelAnswer]


def ana_error(person: Person) -> str:
    return str(Trace.objects.get(end_user_id=person.id).error)
