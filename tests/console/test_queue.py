"""The queue: work is discarded and retried, and a model that does not answer is announced."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.outbox.models import ModelPause, OutboxRow, UserLease
from apps.pipeline.core.enums import WorkState
from apps.tenants.models import Project
from apps.traces.models import Trace
from tests.console.members import HOME, text_of
from tests.console.operation_rows import HOSTILE

pytestmark = pytest.mark.django_db


def test_work_is_discarded_and_retried(tuner: Client, full_project: Project) -> None:
    OutboxRow.objects.filter(project=full_project).update(state=WorkState.PENDING)
    row = OutboxRow.objects.filter(project=full_project).earliest("id")
    page = tuner.post(f"{HOME}queue/{row.pk}/discard/", follow=True).content.decode()
    assert OutboxRow.objects.get(pk=row.pk).state == WorkState.DEAD
    undo = f"{HOME}queue/{row.pk}/retry/"
    assert f'action="{undo}"' in page
    assert str(row.pk) in text_of(tuner, "queue/?state=dead")
    tuner.post(undo)
    assert OutboxRow.objects.get(pk=row.pk).state == WorkState.PENDING


def test_finished_work_can_not_be_discarded(tuner: Client, full_project: Project) -> None:
    OutboxRow.objects.filter(project=full_project).update(state=WorkState.DONE)
    row = OutboxRow.objects.filter(project=full_project).earliest("id")
    page = tuner.post(f"{HOME}queue/{row.pk}/discard/", follow=True).content.decode()
    assert "Nothing was changed" in page
    assert OutboxRow.objects.get(pk=row.pk).state == WorkState.DONE


def test_an_empty_queue_mentions_failed_work(viewer: Client, full_project: Project) -> None:
    rows = OutboxRow.objects.filter(project=full_project)
    rows.update(state=WorkState.DONE)
    assert "All accepted turns are processed." in text_of(viewer, "queue/")
    failed = rows.earliest("id")
    rows.filter(pk=failed.pk).update(state=WorkState.DEAD)
    page = text_of(viewer, "queue/")
    assert "All accepted turns are processed." not in page
    assert "1 entry failed" in page
    assert "?state=dead" in page


def pause_model(project: Project, *, error: str = "connection refused") -> None:
    now = timezone.now()
    ModelPause.objects.all().delete()
    ModelPause.objects.create(
        project=project, model="openai:down", kind="model", since=now, until=now + timedelta(seconds=41), error=error
    )
    user = UserLease.objects.filter(project=project).first()
    UserLease.objects.filter(pk=user.pk).update(waits_for="openai:down", ready_at=now)
    row = OutboxRow.objects.filter(end_user_id=user.pk, kind="run_pipeline").first()
    OutboxRow.objects.filter(pk=row.pk).update(state=WorkState.PENDING)
    Trace.objects.filter(pk=row.subject_id).update(status="queued")


def test_a_model_that_does_not_answer_is_announced(tuner: Client, full_project: Project) -> None:
    pause_model(full_project, error=HOSTILE)
    assert "See its error and try it now" in text_of(tuner, "dashboard/")
    page = text_of(tuner, "queue/")
    assert "The model openai:down has not answered since" in page
    assert re.search(r"1 request waits; next try in (3\d|40|41) s\.", page)
    assert "Try now" in page
    assert HOSTILE not in page


def test_viewers_see_the_pause_without_its_button(viewer: Client, full_project: Project) -> None:
    pause_model(full_project)
    page = text_of(viewer, "queue/")
    assert "connection refused" in page
    assert "Try now" not in page


def test_a_try_is_due_at_once_where_somebody_asks_for_it(tuner: Client, full_project: Project) -> None:
    pause_model(full_project)
    tuner.post(HOME + "queue/try-model/")
    assert ModelPause.objects.get().until <= timezone.now()


def test_a_waiting_trace_says_why(tuner: Client, full_project: Project) -> None:
    pause_model(full_project)
    waiting = Trace.objects.get(status="queued")
    page = text_of(tuner, f"traces/{waiting.pk}/")
    assert "openai:down has not answered since" in page
    assert "next try at" in page


def test_failed_work_is_retried_by_error_by_user_and_all_of_it(tuner: Client, full_project: Project) -> None:
    rows = list(OutboxRow.objects.filter(project=full_project, kind="run_pipeline").order_by("id")[:3])
    for row, error in zip(rows, ("first line\nsecond", "other", "other"), strict=True):
        OutboxRow.objects.filter(pk=row.pk).update(state=WorkState.DEAD, last_error=error)
    page = text_of(tuner, "queue/")
    assert "3 failed" in page
    tuner.post(HOME + "queue/retry/", {"error": "first line\r\nsecond"})
    assert OutboxRow.objects.filter(state=WorkState.DEAD).count() == 2
    tuner.post(HOME + "queue/retry/", {"user": "nobody"})
    assert OutboxRow.objects.filter(state=WorkState.DEAD).count() == 2
    tuner.post(HOME + "queue/retry/")
    assert not OutboxRow.objects.filter(state=WorkState.DEAD).exists()


def test_the_list_stays_filtered_after_a_button(tuner: Client, full_project: Project) -> None:
    OutboxRow.objects.filter(project=full_project).update(state=WorkState.DEAD)
    row = OutboxRow.objects.filter(project=full_project).earliest("id")
    button = f"{HOME}queue/{row.pk}/retry/?state=dead"
    assert f'action="{button}"' in text_of(tuner, "queue/?state=dead")
    answer = tuner.post(button, follow=True)
    assert answer.redirect_chain[-1][0] == f"{HOME}queue/?state=dead"
    assert f'action="{HOME}queue/{row.pk}/discard/?state=dead"' in answer.content.decode()
