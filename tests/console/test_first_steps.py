"""The first steps of an empty project: a key, a turn, the first trace; gone afterwards."""

from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from apps.pipeline.core.enums import Scope
from apps.projects.api_keys import create_key, revoke_key
from apps.tenants.enums import MemberRole
from apps.tenants.models import Project
from apps.traces.models import Trace
from tests.console.members import HOME, member, text_of

pytestmark = pytest.mark.django_db
PAGE = f"{HOME}first-steps/"


@pytest.fixture
def starter(project: Project) -> Client:
    return member("ada", project, MemberRole.ADMIN)


def polled(person: Client, has_key: str) -> Any:
    return person.get(f"{PAGE}?has_key={has_key}", headers={"HX-Request": "true"})


def test_an_empty_project_opens_with_the_first_steps(starter: Client) -> None:
    assert starter.get(HOME).url == PAGE
    page = text_of(starter, "first-steps/")
    assert "Create a key" in page
    assert "curl -s http://testserver/v1/turns" in page
    assert "Bearer YOUR_KEY" in page
    assert "data-polls" in page


def test_people_who_may_not_create_a_key_are_sent_to_an_admin(project: Project) -> None:
    page = text_of(member("vera", project, MemberRole.VIEWER), "first-steps/")
    assert "Ask an admin" in page
    assert f"{HOME}keys/" not in page


def test_only_a_valid_key_that_may_write_counts(starter: Client, project: Project) -> None:
    create_key(project_id=project.pk, name="reader", scopes=[Scope.READ])
    assert "Agents authenticate" in text_of(starter, "first-steps/")
    key = create_key(project_id=project.pk, name="agent", scopes=[Scope.WRITE]).key
    assert "There is a key with the scope write" in text_of(starter, "first-steps/")
    revoke_key(project_id=project.pk, key_id=key.pk)
    assert "Agents authenticate" in text_of(starter, "first-steps/")


def test_a_poll_answers_only_what_is_new(starter: Client, client: APIClient, conversation: dict[str, Any]) -> None:
    assert "There is a key" in polled(starter, "0").content.decode()
    assert polled(starter, "1").status_code == 204

    assert client.post("/v1/turns", conversation).status_code == 202
    answer = polled(starter, "1").content.decode()
    assert f"{HOME}traces/{Trace.objects.get().pk}/" in answer
    assert "data-polls" not in answer
    assert "<html" not in answer


def test_the_steps_are_gone_once_there_are_traces(viewer: Client, full_project: Project) -> None:
    for path in (HOME, PAGE):
        assert viewer.get(path).url == f"{HOME}review/"
