"""Projects: created, renamed, archived and restored by people; an archived one is read, and takes nothing."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from apps.alerts.services import evaluate_alerts
from apps.api import authentication
from apps.memories.models import LedgerEntry, Memory
from apps.outbox import leases
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import Scope
from apps.projects.services import archive_project, restore_project
from apps.tenants.enums import MemberRole
from apps.tenants.models import ApiKey, Project
from tests.api.counting import rows_by_table
from tests.conftest import MakeClient
from tests.console.members import HOME, member, text_of

pytestmark = pytest.mark.django_db
PROJECTS = "/console/login/projects/"
TURNS = {"user_id": "ana", "session_id": "s", "turns": [{"role": "user", "content": "I live in Lisbon."}]}


@pytest.fixture(autouse=True)
def _no_cached_callers() -> None:
    authentication._callers.clear()


def test_superusers_change_limits(admin: Client, project: Project) -> None:
    given = {"queue_limit": "20", "requests_per_minute": "", "max_memories": "500", "max_model_usd_per_day": ""}
    assert admin.post("/console/test/project/limits/", given).status_code == 302
    project.refresh_from_db()
    assert (project.queue_limit, project.max_memories) == (20, 500)
    entry = LedgerEntry.objects.get(verb="project_changed")
    assert entry.details == {
        "fields": ["max_memories", "queue_limit"],
        "limits": {"max_memories": [None, 500.0], "queue_limit": [10_000.0, 20.0]},
    }
    wrong = admin.post("/console/test/project/limits/", {**given, "queue_limit": "-1"})
    assert wrong.status_code == 422
    assert "greater than or equal to 0" in wrong.content.decode()


def test_members_do_not_change_limits(project: Project) -> None:
    ada = member("ada", project, MemberRole.ADMIN)
    assert ada.post("/console/test/project/limits/", {"queue_limit": "20"}).status_code == 403
    assert "Waiting turns" not in ada.get("/console/test/project/").content.decode()


def verbs(project: Project) -> list[str]:
    return list(LedgerEntry.objects.filter(project=project).order_by("created_at").values_list("verb", flat=True))


@pytest.mark.parametrize(
    ("name", "slug", "status", "made"),
    [
        ("North team", "", 302, "north-team"),
        ("North team", "north", 302, "north"),
        ("", "north", 422, None),
        ("北", "", 422, None),
        ("Another", "test", 422, None),  # taken
        ("Another", "login", 422, None),  # the address of another page
        ("Another", "no such/slug", 422, None),
    ],
)
def test_superusers_create_projects(
    admin: Client, project: Project, name: str, slug: str, status: int, made: str | None
) -> None:
    assert admin.post(PROJECTS, {"name": name, "slug": slug}).status_code == status
    assert list(Project.objects.exclude(pk=project.pk).values_list("slug", flat=True)) == ([made] if made else [])
    if made:
        chief = User.objects.get(username="chief")
        entry = LedgerEntry.objects.get(project__slug=made, verb="project_created")
        assert entry.actor == f"person:{chief.pk}"


def test_an_admin_of_a_project_creates_none(project: Project) -> None:
    tess = member("tess", project, MemberRole.ADMIN)
    assert tess.post(PROJECTS, {"name": "Mine"}).status_code == 403
    assert "New project" not in tess.get(PROJECTS).content.decode()
    assert Project.objects.count() == 1


def test_an_admin_renames_the_project(project: Project) -> None:
    tess = member("tess", project, MemberRole.ADMIN)
    tess.post(f"{HOME}project/", {"name": "South team"})
    assert "South team" in text_of(tess, "project/")
    assert tess.post(f"{HOME}project/", {"name": " "}).status_code == 422
    assert verbs(project)[-1] == "project_changed"


def test_archiving_asks_for_the_name_and_is_undone(project: Project) -> None:
    tess = member("tess", project, MemberRole.ADMIN)
    refused = tess.post(f"{HOME}project/archive/", {"confirmation": "test"})
    assert (refused.status_code, "Nothing was archived" in refused.content.decode()) == (422, True)
    tess.post(f"{HOME}project/archive/", {"confirmation": "Test"})
    assert "This project was archived on" in text_of(tess, "review/")
    assert "archived" in tess.get(PROJECTS).content.decode()
    tess.post(f"{HOME}project/restore/")
    assert "This project was archived on" not in text_of(tess, "review/")
    assert verbs(project)[-2:] == ["project_archived", "project_restored"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("post", "turns", TURNS),
        ("post", "memories", {"user_id": "ana", "memories": [{"type": "fact", "content": "Ana lives in Lisbon."}]}),
        ("post", "keys", {"name": "k", "scopes": ["read"]}),
        ("post", "rollbacks", {"user_id": "ana"}),
        ("post", "work/retry", {}),
        ("put", "alert-recipients", {"webhook_url": "", "mail_addresses": []}),
    ],
)
def test_an_archived_project_refuses_writes(
    project: Project, client_of: MakeClient, method: str, path: str, body: dict[str, Any]
) -> None:
    caller = client_of(project, Scope.ADMIN)
    archive_project(project_id=project.pk)
    before = rows_by_table()
    answer = getattr(caller, method)(f"/v1/{path}", body)
    assert (answer.status_code, answer.json()["code"]) == (403, "project_archived")
    assert rows_by_table() == before


def test_a_cached_key_is_refused_at_once_and_taken_again_at_once(project: Project, client: APIClient) -> None:
    assert client.post("/v1/turns", TURNS).status_code == 202
    archive_project(project_id=project.pk)
    answer = client.post("/v1/turns", {**TURNS, "session_id": "t"})
    assert (answer.status_code, answer.json()["code"]) == (403, "project_archived")
    authentication._callers.clear()
    assert client.post("/v1/turns", {**TURNS, "session_id": "t"}).status_code == 403
    restore_project(project_id=project.pk)
    assert client.post("/v1/turns", {**TURNS, "session_id": "t"}).status_code == 202


def test_an_archived_project_is_read_searched_and_erased(
    full_project: Project, client_of: MakeClient, tuner: Client
) -> None:
    caller = client_of(full_project, Scope.ADMIN)
    user = Memory.objects.filter(project=full_project).latest("id").end_user
    archive_project(project_id=full_project.pk)
    query = {"user_id": user.external_id, "query": "Where?"}
    assert caller.post("/v1/memories/search", query).status_code == 200
    assert caller.get("/v1/memories").status_code == 200
    assert caller.get("/v1/traces").status_code == 200
    assert caller.delete(f"/v1/users/{user.external_id}").status_code in (200, 202)
    assert ApiKey.objects.filter(project=full_project, revoked_at=None).exists()


def test_the_console_of_an_archived_project_offers_no_change(full_project: Project, tuner: Client) -> None:
    archive_project(project_id=full_project.pk)
    before = rows_by_table()
    answer = tuner.post(f"{HOME}keys/", {"name": "agent", "scopes": ["read"]})
    assert (answer.status_code, "This project is archived" in answer.content.decode()) == (403, True)
    assert "Acknowledge</button>" not in text_of(tuner, "alerts/")
    assert "Try now" not in text_of(tuner, "queue/")
    assert "<h2>New key</h2>" not in text_of(tuner, "keys/")
    assert "Invite somebody new" not in text_of(tuner, "members/")
    assert rows_by_table() == before
    OutboxRow.objects.update(state="pending", created_at="2020-01-01T00:00:00Z")
    assert "See what waits" not in text_of(tuner, "users/")
    assert "No worker is running" not in text_of(tuner, "users/")


def test_the_queue_of_an_archived_project_rests(
    project: Project, client: APIClient, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    client.post("/v1/turns", TURNS)
    OutboxRow.objects.update(created_at="2020-01-01T00:00:00Z")
    archive_project(project_id=project.pk)
    assert leases.claim(limit=10, seconds=60) == []
    assert client.get("/readyz").json()["oldest_queued_seconds"] == 0
    evaluate_alerts()
    assert client.get("/v1/alerts").json()["results"] == []
    restore_project(project_id=project.pk)
    assert len(leases.claim(limit=10, seconds=60)) == 1
    evaluate_alerts()
    assert client.get("/v1/alerts").json()["results"] != []


def test_home_leads_to_a_project_in_use_first(project: Project, other_project: Project, admin: Client) -> None:
    archive_project(project_id=other_project.pk)  # "Other" is before "Test" by name
    assert admin.get("/console/")["Location"] == "/console/test/"
