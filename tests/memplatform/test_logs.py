"""Logs hold no identifiers of end users: paths of requests become the patterns of their URLs."""

import logging
import re
from collections.abc import Iterator
from io import StringIO

import pytest
from django.test import Client
from rest_framework.test import APIClient
from structlog.stdlib import ProcessorFormatter

from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix, show
from apps.tenants.models import ApiKey, Project
from tests.conftest import MakeClient


@pytest.fixture
def log() -> Iterator[StringIO]:
    """What the handler of the process writes."""
    (handler,) = [
        each
        for each in logging.getLogger().handlers
        if isinstance(each, logging.StreamHandler) and isinstance(each.formatter, ProcessorFormatter)
    ]
    written = StringIO()
    before = handler.setStream(written)
    yield written
    handler.setStream(before)


def test_an_unknown_user_is_not_named_in_the_log(project: Project, client_of: MakeClient, log: StringIO) -> None:
    caller: APIClient = client_of(project, Scope.ADMIN)
    for path in ("/v1/users/ana.kowalska/export", "/v1/erasures/ana.kowalska", "/v1/ana.kowalska", "/ana.kowalska"):
        assert caller.get(path).status_code in (404, 422), path
    assert caller.delete("/v1/users/ana.kowalska").status_code == 404
    lines = log.getvalue()
    assert "ana.kowalska" not in lines
    assert "event='request_finished'" in lines
    assert "code=404 request='DELETE /v1/users/<path:user_id>'" in lines
    assert "code=404 request='GET other'" in lines


def test_the_token_of_an_invitation_is_not_in_the_log(db: None, log: StringIO) -> None:
    assert Client().get("/console/login/invitation/a-token/").status_code == 404
    assert "a-token" not in log.getvalue()
    assert "code=404 request='GET /console/login/invitation/<str:token>/'" in log.getvalue()


def test_a_request_has_one_line_that_tells_route_status_time_and_key(
    project: Project, client_of: MakeClient, log: StringIO
) -> None:
    caller: APIClient = client_of(project, Scope.ADMIN)
    assert caller.get("/v1/users").status_code == 200
    (line,) = log.getvalue().splitlines()
    assert "code=200 request='GET /v1/users'" in line
    assert re.search(r"\bms=\d+\.\d\b", line)
    (key,) = ApiKey.objects.filter(project=project).values_list("id", flat=True)
    assert f"key='{show(Prefix.API_KEY, key)}'" in line
