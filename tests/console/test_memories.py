"""The page of all memories: filters, pages, changes with one undo, and downloads."""

import csv
import io
import json
import re
from datetime import date, timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.memories.models import LedgerEntry, Memory
from apps.pipeline.core.enums import Status
from apps.tenants.enums import MemberRole
from apps.tenants.models import Project
from tests.console.members import HOME, HTMX, member, seen, status_of, text_of, undo_in
from tests.streamed import streamed

pytestmark = pytest.mark.django_db
PAGE = "memories/"


@pytest.fixture
def reviewer(full_project: Project) -> Client:
    client = member("rita", full_project, MemberRole.REVIEWER)
    client.defaults["HTTP_HX_REQUEST"] = "true"
    return client


def memories_of(project: Project) -> list[Memory]:
    """Return the memories of a project, newest first."""
    return list(Memory.objects.filter(project=project).order_by("-created_at", "-id"))


def listed(client: Client, query: str = "") -> list[str]:
    """Return the identifiers that a page lists, in its order."""
    return rows_of(text_of(client, f"{PAGE}?{query}"))


def rows_of(page: str) -> list[str]:
    return re.findall(r'data-open-row href="/console/test/memories/([^/]+)/"', page)


def test_memories_of_all_statuses_are_listed(viewer: Client, full_project: Project) -> None:
    known = memories_of(full_project)
    assert {each.status for each in known} >= {Status.ACTIVE, Status.SUPERSEDED, Status.RETRACTED}
    assert listed(viewer) == [str(each.pk) for each in known]
    assert listed(viewer, "by=oldest") == [str(each.pk) for each in reversed(known)]


def test_each_filter_narrows_the_list(viewer: Client, full_project: Project) -> None:
    """Each filter keeps the one memory that has what it names."""
    tea = Memory.objects.get(project=full_project, content__contains="green tea")
    past = timezone.now() - timedelta(days=400)
    Memory.objects.filter(pk=tea.pk).update(
        tags=["drinks"], confidence=0.2, source_confidence="speculated", expires_at=past, created_at=past
    )
    everything = len(listed(viewer))
    day = past.date()
    for query in (
        "q=GREEN+tea",
        "tag=drinks",
        "most=0.25",
        "visibility=held+back&q=tea",
        "visibility=expired",
        "source=speculated",
        f"since={day}&until={day}",
        f"of={tea.end_user_id}&q=green",
        "user=RUI&q=green",
        "writer=patterns&q=green",
    ):
        assert listed(viewer, query) == [str(tea.pk)], query
    for query in (
        "user=nobody",
        "writer=direct+write",
        "visibility=shown+to+agents&q=green",
        f"status={Status.PENDING_REVIEW}",
    ):
        assert listed(viewer, query) == [], query
    assert len(listed(viewer, "status=nonsense&least=x&since=never&after=x~y")) == everything


def test_pages_follow_each_other_both_ways(
    viewer: Client, full_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each memory is on one page, also where many have the same value."""
    monkeypatch.setattr("apps.memories.views.memories.MemoryListView.paginate_by", 2)
    Memory.objects.filter(project=full_project).update(confidence=0.5, importance=0.25)
    for order in ("newest", "oldest", "changed", "unsure", "sure", "important"):
        assert_pages_follow_each_other(viewer, full_project, order)


def assert_pages_follow_each_other(viewer: Client, full_project: Project, order: str) -> None:
    forth: list[str] = []
    back: list[str] = []
    address = f"{PAGE}?by={order}"
    while address:
        page, last = text_of(viewer, address), address
        forth += rows_of(page)
        address = next(iter(re.findall(r'href="/console/test/(memories/\?[^"]+)">Next', page)), "").replace(
            "&amp;", "&"
        )
    address = last
    while address:
        page = text_of(viewer, address)
        back = rows_of(page) + back
        found = re.findall(r'href="/console/test/(memories/\?[^"]+)"><svg[^>]*><use[^>]*></use></svg> Previous', page)
        address = next(iter(found), "").replace("&amp;", "&")
    assert forth == back, order
    assert sorted(forth) == sorted(str(each.pk) for each in memories_of(full_project))


def test_several_are_archived_and_come_back_with_one_undo(reviewer: Client, full_project: Project) -> None:
    active = list(Memory.objects.filter(project=full_project, status=Status.ACTIVE))
    retracted = Memory.objects.filter(project=full_project, status=Status.RETRACTED).earliest("id")
    given = {"change": "archive", "memory": [*map(seen, active), seen(retracted)]}
    page = reviewer.post(f"{HOME}memories/change/", given)
    assert {status_of(each) for each in active} == {Status.ARCHIVED}
    text = page.content.decode()
    assert f"{len(active)} memories archived." in text
    assert "Not changed: a memory that is retracted can&#x27;t be archived." in text
    reviewer.post(f"{HOME}undo/", undo_in(text))
    assert {status_of(each) for each in active} == {Status.ACTIVE}


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        (Status.ACTIVE, "retract", Status.RETRACTED),
        (Status.SUPERSEDED, "retract", Status.RETRACTED),
        (Status.ARCHIVED, "restore", Status.ACTIVE),
        (Status.REJECTED, "restore", Status.PENDING_REVIEW),
        (Status.PENDING_REVIEW, "archive", None),
        (Status.RETRACTED, "restore", Status.PENDING_REVIEW),
        (Status.RETRACTED, "retract", None),
    ],
)
def test_what_can_be_done_with_each_status(
    reviewer: Client, full_project: Project, before: Status, change: str, after: Status | None
) -> None:
    tea = Memory.objects.get(project=full_project, content__contains="green tea")
    Memory.objects.filter(pk=tea.pk).update(status=before, valid_until=timezone.now())
    answer = reviewer.post(f"{HOME}memories/change/", {"change": change, "memory": seen(tea)})
    assert (answer.status_code, status_of(tea)) == ((200, after) if after else (409, before))
    if after:
        reviewer.post(f"{HOME}undo/", undo_in(answer.content.decode()))
        assert status_of(tea) == before


def test_nothing_is_changed_in_another_version(reviewer: Client, full_project: Project) -> None:
    tea = Memory.objects.get(project=full_project, content__contains="green tea")
    Memory.objects.filter(pk=tea.pk).update(version=tea.version + 1)
    answer = reviewer.post(f"{HOME}memories/change/", {"change": "retract", "memory": seen(tea)})
    assert (answer.status_code, status_of(tea)) == (409, Status.ACTIVE)


def test_an_active_memory_is_reworded_and_the_words_come_back(reviewer: Client, full_project: Project) -> None:
    tea = Memory.objects.get(project=full_project, content__contains="green tea")
    address = f"{HOME}memories/{tea.pk}/reword/"
    answer = reviewer.post(address, {"memory": seen(tea), "content": tea.content.replace("green", "white")})
    changed = Memory.objects.get(pk=tea.pk)
    assert ("white tea" in changed.content, changed.object_text) == (True, "white tea")
    assert reviewer.post(address, {"memory": seen(changed), "content": changed.content}).status_code == 409
    reviewer.post(f"{HOME}undo/", undo_in(answer.content.decode()))
    assert Memory.objects.get(pk=tea.pk).content == tea.content


@pytest.mark.parametrize(("days", "status"), [(-10, None), (0, Status.SUPERSEDED), (10, Status.ACTIVE)])
def test_a_memory_is_closed_on_a_day(reviewer: Client, full_project: Project, days: int, status: Status | None) -> None:
    """It can't end before it began; on a later day it stays active until then."""
    tea = Memory.objects.get(project=full_project, content__contains="green tea")
    day: date = tea.valid_from.date() + timedelta(days=days)
    answer = reviewer.post(f"{HOME}memories/{tea.pk}/close/", {"memory": seen(tea), "ends_on": str(day)})
    closed = Memory.objects.get(pk=tea.pk)
    if status is None:
        assert (answer.status_code, closed.valid_until) == (409, None)
        return
    assert closed.valid_until is not None
    assert (closed.status, closed.valid_until.date()) == (status, day)
    reviewer.post(f"{HOME}undo/", undo_in(answer.content.decode()))
    assert Memory.objects.get(pk=tea.pk).valid_until is None
    assert status_of(tea) == Status.ACTIVE


def test_a_form_of_another_memory_is_refused(reviewer: Client, full_project: Project) -> None:
    one, other = memories_of(full_project)[:2]
    for what in ("reword", "close"):
        answer = reviewer.post(f"{HOME}memories/{one.pk}/{what}/", {"memory": seen(other), "ends_on": "2020-01-01"})
        assert answer.status_code == 422


def test_the_page_of_a_memory_offers_what_can_be_done(reviewer: Client, viewer: Client, full_project: Project) -> None:
    tea = Memory.objects.get(project=full_project, content__contains="green tea")
    page = text_of(reviewer, f"memories/{tea.pk}/")
    assert [name for name in ("Reword", "Close…", "Archive", "Retract", "Restore") if f" {name} <kbd>" in page] == [
        "Reword",
        "Close…",
        "Archive",
        "Retract",
    ]
    assert "Change this memory" not in text_of(viewer, f"memories/{tea.pk}/")


def test_the_list_is_downloaded_as_it_is_filtered(tuner: Client, full_project: Project) -> None:
    Memory.objects.filter(project=full_project, content__contains="green tea").update(content="=SUM(green tea)")
    rows = [json.loads(line) for line in streamed(tuner.get(f"{HOME}memories/export/")).decode().splitlines()]
    assert [row["id"] for row in rows] == [each.shown_id for each in memories_of(full_project)]
    table = streamed(tuner.get(f"{HOME}memories/export/?format=csv&q=green")).decode()
    (row,) = csv.DictReader(io.StringIO(table))
    assert (row["content"], row["status"]) == ("'=SUM(green tea)", "active")
    assert LedgerEntry.objects.filter(verb="memories_exported", actor=f"person:{_person('tess')}").count() == 2


def _person(name: str) -> int:
    return User.objects.get(username=name).pk


def test_the_list_asks_the_database_little(
    admin: Client, full_project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for query in ("", "visibility=held+back&user=rui&q=tea&by=unsure"):
        with django_assert_max_num_queries(25):
            admin.get(f"{HOME}{PAGE}?{query}", headers={} if query else HTMX)
