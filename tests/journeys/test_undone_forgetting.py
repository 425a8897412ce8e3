"""What was forgotten by mistake comes back: by a rollback of the request, or restored and approved in the console."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from apps.memories.models import Memory
from apps.pipeline.core.enums import Reason, Scope, Status
from apps.tenants.enums import MemberRole
from apps.tenants.models import Membership, Project
from tests.conftest import MakeClient
from tests.tuning.rollbacks.teller import Teller, roll_back

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(client_of: MakeClient, project: Project) -> APIClient:
    return client_of(project, Scope.READ)


@pytest.fixture
def reviewer(project: Project) -> Client:
    user = User.objects.create_user("rita")
    Membership.objects.create(user=user, project=project, role=MemberRole.ADMIN)
    client = Client(headers={"HX-Request": "true"})
    client.force_login(user)
    return client


def told(api: APIClient) -> list[str]:
    """Return what an agent is told about the user's home."""
    body = {"user_id": "ana", "query": "Where does the user live?"}
    return [each["content"] for each in api.post("/v1/memories/search", body).json()["results"]]


def test_a_rollback_of_the_request_brings_it_back(project: Project, api: APIClient) -> None:
    ana = Teller(project)
    ana.tells("I live in Lyon.", day=2)
    trace = ana.tells("Please forget my address.", day=3)
    assert told(api) == []
    roll_back(project, trace)
    assert told(api) == ["User lives in Lyon."]


def test_restored_and_approved_it_is_told_again(project: Project, api: APIClient, reviewer: Client) -> None:
    ana = Teller(project)
    ana.tells("I live in Lyon.", day=2)
    ana.tells("Please forget my address.", day=3)
    home = Memory.objects.get(end_user_id=ana.id)
    assert (home.status, home.review_reasons) == (Status.RETRACTED, [Reason.ASKED_TO_FORGET])

    given = {"change": "restore", "memory": f"{home.pk}:{home.version}"}
    assert reviewer.post("/console/test/memories/change/", given).status_code == 200
    home.refresh_from_db()
    assert (home.status, told(api)) == (Status.PENDING_REVIEW, [])
    assert reviewer.post("/console/test/review/approve/", {"memory": f"{home.pk}:{home.version}"}).status_code == 200
    assert told(api) == ["User lives in Lyon."]
