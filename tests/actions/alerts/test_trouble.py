"""What is wrong in a project: what each trouble says, which explains which, and from when on somebody is told."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.actions.alerts.trouble import REMEDIES, TELL_AFTER, Trouble, troubles_of
from apps.alerts.enums import AlertKind
from apps.events.models import Webhook
from apps.outbox.enums import PausedKind
from apps.outbox.models import ModelPause
from apps.pipeline.core.enums import WorkState
from apps.tenants.models import Project
from tests.actions.alerts.alert_rows import MINUTE, beat, pause, work

pytestmark = pytest.mark.django_db
NOW = timezone.now()
THEN = f"{NOW - 6 * MINUTE:%Y-%m-%d %H:%M} UTC"


def found(project: Project, now: datetime = NOW) -> list[Trouble]:
    return troubles_of(project_id=project.pk, now=now)


def test_nothing_is_wrong_while_work_is_done(
    project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    beat()
    work(project, since=NOW - MINUTE / 2)
    with django_assert_num_queries(1):
        assert found(project) == []


def test_a_model_that_is_silent_explains_late_work(project: Project) -> None:
    beat()
    pause(project, since=NOW - 6 * MINUTE)
    for _ in range(2):
        work(project, since=NOW - 6 * MINUTE)
    (trouble,) = found(project)
    assert (trouble.kind, trouble.subject) == (AlertKind.MODEL_UNAVAILABLE, "openai:down")
    assert trouble.cause == f"The model openai:down has not answered since {THEN}."
    assert trouble.cost == "2 requests wait for it; what was said is remembered once it answers."
    ModelPause.objects.update(kind=PausedKind.EMBEDDER)
    assert found(project)[0].cause.startswith("The embedder openai:down has not answered")


def test_without_a_worker_late_work_is_no_trouble_of_its_own(project: Project) -> None:
    (idle,) = found(project)
    assert idle.cause == "No worker is running."
    assert not idle.is_told(now=NOW)  # nobody misses it yet
    work(project, since=NOW - 90 * MINUTE / 60)
    (trouble,) = found(project)
    assert trouble.cause == "No worker is running, and the oldest work has waited for 90 s."
    assert trouble.cost == "What was said since then is remembered late."


def test_late_and_failed_work(project: Project) -> None:
    beat()
    work(project, since=NOW - 12 * MINUTE)
    work(project, since=NOW, state=WorkState.DEAD)
    late, dead = found(project)
    assert (late.kind, late.cause) == ("queue_age", "The oldest queued work has waited for 12 min.")
    assert (dead.kind, dead.cause) == ("dead_work", "1 piece of work failed for good.")


def test_a_webhook_that_delivers_nothing(project: Project) -> None:
    beat()
    hook = Webhook.objects.create(
        project=project, name="crm", url="https://example.com/hook", event_types=[], failing_since=NOW
    )
    assert found(project) == []  # its receiver may be restarting
    Webhook.objects.filter(pk=hook.pk).update(failing_since=NOW - timedelta(hours=2))
    (trouble,) = found(project)
    assert (trouble.kind, trouble.subject) == ("webhook_failing", "crm")
    assert "The webhook crm has delivered nothing since" in trouble.cause


def test_work_of_an_archived_project_waits_on_purpose(project: Project) -> None:
    work(project, since=NOW - 12 * MINUTE)
    assert troubles_of(project_id=project.pk, now=NOW, is_archived=True) == []


@pytest.mark.parametrize("kind", AlertKind)
def test_every_kind_has_a_remedy_and_a_time_from_which_it_is_told(kind: AlertKind) -> None:
    assert REMEDIES[kind].label
    told = Trouble(kind, "cause", "cost", since=NOW - TELL_AFTER[kind])
    assert told.is_told(now=NOW)
    assert not told.is_told(now=NOW - timedelta(seconds=1))
