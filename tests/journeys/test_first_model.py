"""A project gets its first model: what was kept as quotes before is read again, and a rollback restores the quotes."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from apps.intake.read_again import sessions_to_read
from apps.memories.models import Memory
from apps.pipeline.core.enums import Scope, Status
from apps.tenants.enums import MemberRole
from apps.tenants.models import Membership, Project
from apps.traces.models import Trace
from benchmarks.model_server import ModelServer, Reply
from tests.conftest import MakeClient
from tests.pipeline.answers import listing, memory
from tests.tuning.rollbacks.teller import Teller, roll_back

pytestmark = pytest.mark.django_db
SISTER = "My sister Mara moved to Bergen last spring to work on a research boat."
RUNNING = "We were out on the fjord all weekend and my knee hurt again afterwards."
MODEL = "anthropic:claude-haiku-4-5"
PAGE = "/console/test/"


@pytest.fixture
def api(client_of: MakeClient, project: Project) -> APIClient:
    return client_of(project, Scope.READ)


@pytest.fixture
def admin(project: Project) -> Client:
    user = User.objects.create_user("ada")
    Membership.objects.create(user=user, project=project, role=MemberRole.ADMIN)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def ana(project: Project, model_server: ModelServer, settings: Any) -> Teller:
    """A user who has told two things before there was a model."""
    settings.MODEL = ""
    read = memory("Mara moved to Bergen.", evidence="My sister Mara moved to Bergen", value="Bergen")
    model_server.answering = lambda _: Reply(text=listing(read))
    person = Teller(project)
    person.tells(SISTER, day=2)
    person.tells(RUNNING, day=3)
    return person


def block(api: APIClient) -> str:
    body = {"user_id": "ana", "query": "Where did Mara move?"}
    return str(api.post("/v1/context", body).json()["context"])


def shown(admin: Client, page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", admin.get(f"{PAGE}{page}/").content.decode()))


def test_quotes_become_statements_and_come_back(ana: Teller, api: APIClient, admin: Client, settings: Any) -> None:
    assert SISTER in block(api)
    assert "kept as quotes" not in shown(admin, "dashboard")

    settings.MODEL = MODEL
    offer = "A model is configured. 2 messages in 1 session were kept as quotes without it."
    for page in ("dashboard", "configuration"):
        assert offer in shown(admin, page)
        assert "in about 1 call;" in shown(admin, page)
    accepted = admin.post(f"{PAGE}read-again/", follow=True).content.decode()
    assert "1 session will be read again with the model." in accepted
    assert "Reading stored messages with the model: 0 of 1 session." in accepted
    ana.is_worked_for()
    assert admin.get(f"{PAGE}reading/").headers["HX-Refresh"] == "true"

    read = block(api)
    assert "Mara moved to Bergen." in read
    assert SISTER not in read
    assert RUNNING in read
    assert "kept as quotes" not in shown(admin, "dashboard")
    trace = Trace.objects.get(reads_again=True)
    assert admin.get(f"{PAGE}traces/{trace.pk}/").status_code == 200
    note = Memory.objects.get(status=Status.SUPERSEDED).pk
    assert "Mara moved to Bergen." in shown(admin, f"memories/{note}")

    roll_back(ana.project, trace.id)
    assert SISTER in block(api)
    assert "Mara moved to Bergen." not in block(api)
    assert sessions_to_read(ana.project.id).sessions == 1
