"""The banner of all pages, and the notice of new rows."""

from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils import timezone

from apps.alerts.models import SchedulerHeartbeat
from apps.alerts.verdict import verdict_of
from apps.memories.models import Memory
from apps.outbox.models import ModelPause, OutboxRow, PausedKind, WorkerHeartbeat
from apps.pipeline.core.enums import Status, WorkState
from apps.tenants.models import Project
from apps.traces.models import Trace
from tests.console.members import text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def sound_project(full_project: Project) -> Project:
    """A project in which nothing is wrong: a worker lives, and all work is done."""
    ModelPause.objects.all().delete()
    OutboxRow.objects.update(state=WorkState.DONE)
    for beats in (WorkerHeartbeat, SchedulerHeartbeat):
        beats.objects.update(seen_at=timezone.now())
    return full_project


def texts(project: Project) -> list[str]:
    return [each.cause for each in verdict_of(project_id=project.pk).troubles]


def test_nothing_is_wrong(sound_project: Project, viewer: Client) -> None:
    assert texts(sound_project) == []
    assert 'role="status"></div>' in text_of(viewer, "users/")


def test_the_banner_names_the_first_cause_and_counts_the_others(sound_project: Project, viewer: Client) -> None:
    now = timezone.now()
    OutboxRow.objects.filter(project=sound_project).update(state=WorkState.DEAD)
    ModelPause.objects.create(
        project=sound_project, model="m", kind=PausedKind.MODEL, since=now, until=now, error="refused"
    )
    page = text_of(viewer, "users/")
    assert "The model m has not answered since" in page
    assert "And 1 more." in page


@pytest.mark.parametrize(
    ("path", "shown"), [("users/", True), ("queue/", True), ("alerts/", False), ("dashboard/", False)]
)
def test_pages_that_tell_it_in_detail_have_no_banner(
    sound_project: Project, viewer: Client, path: str, shown: bool
) -> None:
    WorkerHeartbeat.objects.all().delete()
    assert ('id="banner"' in text_of(viewer, path)) == shown


NEW_ROWS = [
    ({"list": "traces"}, 6),
    ({"list": "traces", "q": "porto"}, 1),
    ({"list": "traces", "status": "rejected"}, 1),
    ({"list": "review"}, 1),
    ({"list": "review", "q": "zebra"}, 0),
    ({"list": "keys"}, None),
    ({}, None),
]


def test_new_rows_are_counted_by_the_filters_of_the_list(
    full_project: Project, viewer: Client, subtests: pytest.Subtests
) -> None:
    for query, new in NEW_ROWS:
        with subtests.test(query=query, new=new):
            began = Trace.objects.filter(project=full_project).earliest("created_at").created_at - timedelta(hours=1)
            Memory.objects.filter(project=full_project, content__contains="green tea").update(
                status=Status.PENDING_REVIEW
            )
            page = text_of(viewer, f"counts/?{urlencode(query | {'shown_at': began.isoformat()})}")
            assert ('id="new-rows"' in page) == (new is not None)
            assert (f">{new} new: show</a>" in page) == bool(new)
            later = urlencode(query | {"shown_at": "2999-01-01T00:00:00Z"})
            assert "new: show" not in text_of(viewer, f"counts/?{later}")
