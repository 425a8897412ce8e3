"""Requests of a project with a full queue are refused; other projects are not affected."""

from itertools import count

import pytest
from django.core.cache import BaseCache
from django.test import Client as DjangoClient

from apps.intake import quotas
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import Scope
from apps.projects.api_keys import create_key
from apps.projects.services import create_project
from apps.tenants.models import Project
from apps.traces.models import Turn

pytestmark = pytest.mark.django_db
_numbers = count()


def _post(project: Project, turns: int = 1):  # type: ignore[no-untyped-def]
    key = create_key(project_id=project.id, name="k", scopes=[Scope.WRITE]).text
    said = [{"role": "user", "content": f"My locker number is {next(_numbers)}."} for _ in range(turns)]
    body = {"user_id": "ana", "session_id": "one", "turns": said}
    return DjangoClient().post("/v1/turns", body, "application/json", headers={"Authorization": f"Bearer {key}"})


def test_a_full_queue_is_a_429_that_says_when_to_come_back(project: Project) -> None:
    Project.objects.filter(id=project.id).update(queue_limit=2)
    assert [_post(project).status_code for _ in range(3)] == [202, 202, 429]
    refused = _post(project)
    assert refused.json()["code"] == "queue_full"
    assert int(refused["Retry-After"]) > 0
    assert Turn.objects.filter(session__project=project).count() == 2


def test_a_queue_is_as_full_as_it_has_turns(project: Project) -> None:
    Project.objects.filter(id=project.id).update(queue_limit=50)
    assert [_post(project, turns=30).status_code for _ in range(3)] == [202, 202, 429]


def test_another_project_is_not_held_up(project: Project) -> None:
    Project.objects.filter(id=project.id).update(queue_limit=1)
    _post(project)
    assert _post(project).status_code == 429
    assert _post(create_project(name="Other", slug="other")).status_code == 202


def test_hardly_a_request_counts(project: Project, counted_limits: BaseCache, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is exceeded by what comes before the next count, and holds as long as the count says so."""
    monkeypatch.setattr(quotas, "COUNT_QUEUE_EVERY_SECONDS", 600)
    Project.objects.filter(id=project.id).update(queue_limit=1)
    assert [_post(project).status_code for _ in range(3)] == [202, 202, 202]

    counted_limits.clear()
    assert [_post(project).status_code for _ in range(2)] == [429, 429]

    OutboxRow.objects.update(state="done")
    counted_limits.clear()
    assert _post(project).status_code == 202
