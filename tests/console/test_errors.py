"""Error pages in plain words, and toasts for requests for a part of a page."""

import pytest
from django.test import Client

from apps.memories.models import Memory
from apps.pipeline.core.enums import Status
from apps.tenants.enums import MemberRole
from apps.tenants.models import Project
from tests.console.members import HTMX, htmx_member, seen

pytestmark = pytest.mark.django_db
HOME = "/console/test/"


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("keys/", 403, "This page requires the role admin."),
        ("traces/01900000-0000-7000-8000-000000000000/", 404, "It may have been deleted"),
        ("nothing/here/", 404, "This does not exist"),
    ],
)
def test_errors_are_told_in_plain_words(viewer: Client, path: str, status: int, said: str) -> None:
    answer = viewer.get(HOME + path)
    assert answer.status_code == status
    assert said in answer.content.decode()
    assert 'href="/console/"' in answer.content.decode()
    part = viewer.get(HOME + path, headers=HTMX)
    assert (part.status_code, part["HX-Retarget"]) == (status, "#toasts")
    assert said in part.content.decode()
    assert "<html" not in part.content.decode()


def test_a_failure_does_not_claim_that_nothing_was_changed(viewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.console.generic.paginate", None)
    viewer.raise_request_exception = False
    answer = viewer.get(f"{HOME}users/")
    assert answer.status_code == 500
    assert "may or may not have been saved" in answer.content.decode()


def test_a_decision_without_its_cookie_says_so(full_project: Project) -> None:
    memory = Memory.objects.filter(project=full_project, status=Status.ACTIVE).first()
    assert memory is not None
    client = htmx_member("rita", full_project, MemberRole.REVIEWER)
    client.handler.enforce_csrf_checks = True
    answer = client.post(f"{HOME}review/approve/", {"memory": seen(memory)})
    assert (answer.status_code, answer["HX-Retarget"]) == (403, "#toasts")
    assert "Reload it and try again" in answer.content.decode()
