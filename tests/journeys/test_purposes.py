"""Every row of purposes.toml holds: what was said and decided leads to what search and context say."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from apps.pipeline.core.enums import MemorySharing, Scope, TraceStatus
from apps.pipeline.core.policy import ExtractionPolicy, Policy, SharingPolicy
from apps.projects.services import configure
from apps.tenants.enums import MemberRole
from apps.tenants.models import Membership, Project
from apps.traces.models import Trace
from benchmarks.model_server import ModelServer
from tests.conftest import MakeClient
from tests.journeys.purpose_runner import PurposeRunner, Row

pytestmark = pytest.mark.django_db
ROWS: list[Row] = tomllib.loads(Path(__file__).with_name("purposes.toml").read_text(encoding="utf-8"))["purpose"]


@pytest.fixture
def reviewer(project: Project) -> Client:
    """A person who may decide in the console."""
    user = User.objects.create_user("rita")
    Membership.objects.create(user=user, project=project, role=MemberRole.ADMIN)
    client = Client(headers={"HX-Request": "true"})
    client.force_login(user)
    return client


def params() -> list[Any]:
    """Return the rows; one whose fault is known is a strict expected failure."""
    return [
        pytest.param(row, id=row["id"], marks=[pytest.mark.xfail(strict=True, reason=fault)] if fault else [])
        for row in ROWS
        for fault in [row.get("expected_failure", "")]
    ]


@pytest.mark.parametrize("row", params())
def test_purpose(
    row: Row, project: Project, client_of: MakeClient, reviewer: Client, settings: Any, request: pytest.FixtureRequest
) -> None:
    server: ModelServer | None = None
    if row.get("by", "plain") == "model":
        server = request.getfixturevalue("model_server")
        settings.MODEL = row.get("model", settings.MODEL)
    # The sessions of a row are short; those that people end with a review are longer.
    sharing = SharingPolicy(memory_sharing=row.get("sharing", MemorySharing.SHARED))
    extraction = ExtractionPolicy(min_session_turns=1, review_seen_sessions=True)
    configure(project_id=project.id, policy=Policy(extraction=extraction, sharing=sharing))
    api = client_of(project, Scope.READ, Scope.WRITE)
    runner = PurposeRunner(row, project, api, reviewer, server)
    failures = runner.run()
    assert failures == [], row["title"]
    is_finished = [TraceStatus.DONE, TraceStatus.REJECTED, TraceStatus.ROLLED_BACK]
    unfinished = Trace.objects.filter(project=project).exclude(status__in=is_finished)
    assert list(unfinished.values_list("status", flat=True)) == [], "a run that has failed shows nothing"


def test_each_row_is_named_once() -> None:
    names = [row["id"] for row in ROWS]
    assert len(names) == len(set(names))
