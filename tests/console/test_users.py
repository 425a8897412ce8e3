"""The page of one end user."""

import pytest
from django.test import Client

from apps.memories.models import Memory
from apps.pipeline.core.enums import Status
from apps.tenants.models import EndUser, Project
from tests.console.conftest import HOSTILE

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("tab=context", "green tea"),
        ("tab=context&q=tea&stakes=high&budget=80", "tokens"),
        ("tab=facts", "lives in"),
        ("tab=timeline", "green tea"),
        (f"tab=timeline&status={Status.RETRACTED}", "show all"),
        ("tab=graph", "Marta"),
        ("tab=nonsense&budget=-1&stakes=none", "tokens"),
    ],
)
def test_every_tab_opens(
    admin: Client,
    full_project: Project,
    query: str,
    shown: str,
) -> None:
    user = EndUser.objects.get(project=full_project)
    page = admin.get(f"/console/test/users/{user.pk}/?{query}").content.decode()
    assert shown in page
    assert HOSTILE not in page


def test_users_are_found(admin: Client, full_project: Project) -> None:
    user = EndUser.objects.get(project=full_project)
    assert str(user.pk) in admin.get("/console/test/users/", {"q": "RUI"}).content.decode()
    assert "No matching user" in admin.get("/console/test/users/", {"q": "eva"}).content.decode()


@pytest.mark.parametrize("page", ["users", "entities", "contradictions", "review", "traces", "patterns", "why-not"])
def test_nul_in_a_search_is_a_space(admin: Client, full_project: Project, page: str) -> None:
    assert admin.get(f"/console/test/{page}/", {"q": "a\x00b", "user": "\x00"}).status_code == 200


def test_facts_and_details_say_what_is_denied(admin: Client, full_project: Project) -> None:
    tea = Memory.objects.get(project=full_project, content__contains="green tea")
    Memory.objects.filter(pk=tea.pk).update(polarity="negative", content="Rui does not like green tea.")
    page = admin.get(f"/console/test/users/{tea.end_user_id}/?tab=facts").content.decode()
    assert '<span class="chip chip-bad">negative</span> Rui does not like green tea.' in page
    assert 'class="span-negative"' in page
    page = admin.get(f"/console/test/memories/{tea.pk}/").content.decode()
    assert '<span class="chip chip-bad">not</span> likes' in page
