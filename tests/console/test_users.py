"""The page of one end user."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from apps.memories.models import Entity, Memory
from apps.memories.selectors.users import facts_over_time
from apps.pipeline.core.enums import Status
from apps.tenants.models import EndUser, Project
from tests.console.operation_rows import HOSTILE

pytestmark = pytest.mark.django_db


TABS = [
    ("tab=context", "green tea"),
    ("tab=context&q=tea&stakes=high&budget=80", "tokens"),
    ("tab=facts", "lives in"),
    ("tab=timeline", "green tea"),
    (f"tab=timeline&status={Status.RETRACTED}", "show all"),
    ("tab=graph", "Marta"),
    ("tab=nonsense&budget=-1&stakes=none", "tokens"),
]


def test_every_tab_opens(admin: Client, full_project: Project, subtests: pytest.Subtests) -> None:
    for query, shown in TABS:
        with subtests.test(query=query, shown=shown):
            user = EndUser.objects.get(project=full_project)
            page = admin.get(f"/console/test/users/{user.pk}/?{query}").content.decode()
            assert shown in page
            assert HOSTILE not in page


def test_users_are_found(admin: Client, full_project: Project) -> None:
    user = EndUser.objects.get(project=full_project)
    assert str(user.pk) in admin.get("/console/test/users/", {"q": "RUI"}).content.decode()
    assert "No matching user" in admin.get("/console/test/users/", {"q": "eva"}).content.decode()


def test_each_line_of_the_block_leads_to_its_memory_and_quote(admin: Client, full_project: Project) -> None:
    tea = Memory.objects.get(project=full_project, content__contains="green tea")
    page = admin.get(f"/console/test/users/{tea.end_user_id}/").content.decode()
    line = page[page.index(f'data-open-row href="/console/test/memories/{tea.pk}/"') :]
    assert escape(tea.evidence) in line[: line.index("</li>")]
    assert Memory.objects.get(pk=tea.pk).access_count == 0


@pytest.mark.parametrize(
    ("values", "query", "reason"),
    [
        ({"status": Status.PENDING_REVIEW}, "", "it waits for review"),
        ({"confidence": 0.3}, "", "less confident than these stakes require"),
        ({"status": Status.ARCHIVED}, "", "it is archived"),
        ({"expires_at": "2020-01-01T00:00Z"}, "", "it has expired"),
        ({"agent_id": "a1", "private_to": "a1"}, "", "told by another agent, or private to one"),
        ({}, "budget=50&q=Where does Marta live?", "the budget is used up"),
    ],
)
def test_what_is_left_out_says_why(
    admin: Client, full_project: Project, values: dict[str, object], query: str, reason: str
) -> None:
    tea = Memory.objects.get(project=full_project, content__contains="green tea")
    Memory.objects.filter(pk=tea.pk).update(**values)
    page = admin.get(f"/console/test/users/{tea.end_user_id}/?{query}").content.decode()
    missed = next(each for each in page.split("data-missed")[1:] if str(tea.pk) in each)
    assert f"because {reason}</span>" in missed


def moved(project: Project) -> Memory:
    """Return the present home, which the project has as retracted, as active."""
    braga = Memory.objects.get(project=project, content__contains="Braga")
    Memory.objects.filter(pk=braga.pk).update(status=Status.ACTIVE)
    return braga


def test_changed_facts_have_a_lane_and_others_a_row(admin: Client, full_project: Project) -> None:
    """Lisbon and Braga are values of one slot; tea is the only value of its own."""
    braga = moved(full_project)
    facts = facts_over_time(end_user_id=braga.end_user_id, now=timezone.now())
    (lane,) = facts["lanes"]
    assert [each["memory"].object_text for each in lane["periods"]] == ["Lisbon", "Braga"]
    assert "green tea" in {each.object_text for each in facts["single"]}
    page = admin.get(f"/console/test/users/{braga.end_user_id}/?tab=facts").content.decode()
    assert page.index("Lisbon</a>") < page.index("Braga</a>") < page.index("green tea</a>")


def test_overlapping_values_lie_in_rows_of_their_own(admin: Client, full_project: Project) -> None:
    braga = moved(full_project)
    Memory.objects.filter(pk=braga.pk).update(polarity="negative")
    slot = Memory.objects.filter(project=full_project, subject=braga.subject, predicate=braga.predicate)
    slot.filter(status=Status.SUPERSEDED).update(valid_until=braga.valid_from + timedelta(days=20))
    (lane,) = facts_over_time(end_user_id=braga.end_user_id, now=timezone.now())["lanes"]
    assert ([each["top"] for each in lane["periods"]], lane["height"]) == ([0, 10], 20)
    page = admin.get(f"/console/test/users/{braga.end_user_id}/?tab=facts").content.decode()
    assert 'class="span-negative"' in page


def test_facts_and_details_say_what_is_denied(admin: Client, full_project: Project) -> None:
    tea = Memory.objects.get(project=full_project, content__contains="green tea")
    Memory.objects.filter(pk=tea.pk).update(polarity="negative", content="Rui does not like green tea.")
    page = admin.get(f"/console/test/users/{tea.end_user_id}/?tab=facts").content.decode()
    assert '<span class="chip chip-bad">negative</span> Rui does not like green tea.' in page
    page = admin.get(f"/console/test/memories/{tea.pk}/").content.decode()
    assert '<span class="chip chip-bad">not</span> likes' in page


def test_the_graph_names_each_relation_and_lists_it(admin: Client, full_project: Project) -> None:
    user = EndUser.objects.get(project=full_project)
    page = admin.get(f"/console/test/users/{user.pk}/?tab=graph").content.decode()
    marta, porto = (Entity.objects.get(project=full_project, name=name) for name in ("Marta", "Porto"))
    row = next(part for part in page.split("<tr>") if f"{marta.pk}" in part and f"{porto.pk}" in part)
    assert "lives in" in row
    assert re.search(r'<text class="edge-label"[^>]*>[^<]*lives in', page)
