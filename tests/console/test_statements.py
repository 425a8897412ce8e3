"""No page of the console takes more than 35 SQL statements, however much it shows."""

from collections.abc import Iterator
from urllib.parse import quote
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, reverse

from apps.console.urls import urlpatterns
from apps.events.models import Webhook
from apps.imports.models import FileImport
from apps.memories.models import Entity, EvaluationItem, Memory, MemoryLink, Rollback
from apps.pipeline.core.enums import LinkKind, Status
from apps.tenants.enums import MemberRole
from apps.tenants.models import EndUser, Project
from apps.traces.models import Replay, Trace
from tests.console.pending import pending

pytestmark = pytest.mark.django_db
MOST_STATEMENTS = 35
# Two searches with their context blocks, and a rollback computed in memory, which takes 22 for each end user.
_MORE = {"against=1": 45, "rollbacks/new/?": 40}
# Addresses that answer to GET with something else than a page of a project.
_NO_PAGES = frozenset({"home", "logout", "join"})
# In addresses that take POST alone, so that the values need not exist: a page would answer with 404.
_ONLY_POSTED = {
    **dict.fromkeys(("alert_id", "invitation_id", "key_id", "membership_id"), UUID(int=0)),
    **dict.fromkeys(("row_id", "person_id"), 0),
    "role": MemberRole.VIEWER.value,
    "preset": "no-such",
    "token": "none",
}
# What is shown of a page besides its plain address.
_FURTHER = {
    "review": ("?q=likes", "?page=2"),
    "contradictions": ("?settled=1",),
    "memories": ("?q=tea&type=preference&status=active", "?order=confidence"),
    "user": ("?tab=context&q=tea", "?tab=facts", "?tab=timeline", "?tab=graph"),
    "recall": ("?user={user}&q=tea", "?user={user}&q=tea&against=1"),
    "ask": ("?q=thanks", "?q=tea", "?q=tea&user={user}"),
    "dashboard": ("?range=1h", "?range=30d", "?range=12w"),
    "traces": ("?q=tea", "?reason=thanks"),
    "patterns": ("?q=thanks",),
    "palette": ("?q=tea",),
    "new-rollback": ("?user={user}",),
    "alerts": ("?state=acknowledged",),
    "audit": ("?act=added",),
    "queue": ("?state=done",),
}


@pytest.fixture
def addresses(full_project: Project) -> Iterator[list[str]]:
    """Return the address of every page, with groups, pairs and users that have something to show."""
    for number in range(12):
        pending(full_project, "Likes strong coffee", user=f"user-{number}", predicate=f"likes_{number}")
    return [*_addresses(full_project)]


def _addresses(project: Project) -> Iterator[str]:
    user = EndUser.objects.filter(project=project).earliest("created_at")
    given = {
        "slug": project.slug,
        "user_id": user.pk,
        "memory_id": Memory.objects.filter(project=project, status=Status.ACTIVE).latest("created_at").pk,
        "entity_id": Entity.objects.filter(project=project, is_user=False).earliest("name").pk,
        "into_id": Entity.objects.filter(project=project, is_user=False).latest("name").pk,
        "trace_id": Trace.objects.filter(project=project).latest("created_at").pk,
        "link_id": MemoryLink.objects.filter(project=project).latest("created_at").pk,
        "replay_id": Replay.objects.filter(project=project).latest("created_at").pk,
        "rollback_id": Rollback.objects.filter(project=project).latest("created_at").pk,
        "item_id": EvaluationItem.objects.latest("id").pk,
        "import_id": FileImport.objects.get(project=project).pk,
        "webhook_id": Webhook.objects.get(project=project).pk,
        "name": "thanks_en",
        "number": 1,
        **_ONLY_POSTED,
    }
    for pattern in urlpatterns:
        names = pattern.pattern.converters
        assert names.keys() <= given.keys(), f"give the page {pattern.name} an object to show"
        if isinstance(pattern, URLPattern) and pattern.name not in _NO_PAGES:
            address = reverse(f"console:{pattern.name}", kwargs={name: given[name] for name in names})
            further = [each.format(user=quote(user.external_id)) for each in _FURTHER.get(pattern.name or "", ())]
            yield from [address, *(address + query for query in further)]


def test_no_page_takes_many_statements(tuner: Client, addresses: list[str]) -> None:
    tuner.get(addresses[0])  # what is read once in a process
    taken: dict[str, int] = {}
    for address in addresses:
        with CaptureQueriesContext(connection) as queries:
            answer = tuner.get(address)
        if answer.status_code == 200 and not answer.streaming:
            taken[address] = len(queries)
        else:
            assert answer.status_code in (200, 302, 405), address
    assert len(taken) > 55
    assert {address: count for address, count in taken.items() if count > _most(address)} == {}


def test_a_case_with_everything_takes_no_more(tuner: Client, full_project: Project) -> None:
    """Evidence, a link found by its trace, a change and a comment."""
    memory = Memory.objects.get(project=full_project, content__contains="green tea")
    tuner.post(f"/console/test/memories/{memory.pk}/reword/", {"memory": f"{memory.pk}:1", "content": "Rui likes tea"})
    Memory.objects.filter(pk=memory.pk).update(status=Status.PENDING_REVIEW, review_reasons=["contradiction"])
    other = Memory.objects.filter(end_user=memory.end_user, status=Status.ACTIVE).exclude(pk=memory.pk).earliest("id")
    MemoryLink.objects.create(
        end_user=memory.end_user,
        project=full_project,
        from_memory=memory,
        to_memory=other,
        kind=LinkKind.CONTRADICTS,
        trace_id=memory.trace_id,
    )
    tuner.post(f"/console/test/memories/{memory.pk}/comments/", {"text": "Which tea?"})
    with CaptureQueriesContext(connection) as queries:
        page = tuner.get(f"/console/test/review/?open={memory.pk}").content.decode()
    for text in ("Which tea?", "turn-quoted", "by tess"):
        assert text in page
    assert len(queries) <= MOST_STATEMENTS, [each["sql"][:90] for each in queries.captured_queries]


def _most(address: str) -> int:
    return next((most for part, most in _MORE.items() if part in address), MOST_STATEMENTS)


def test_a_large_group_takes_no_more_statements_than_a_small_one(tuner: Client, project: Project) -> None:
    counts = []
    for upto in (2, 12):
        for number in range(len(counts) * 2, upto):
            leader = pending(project, "Likes strong coffee", user=f"user-{number}", predicate=f"likes_{number}")
        with CaptureQueriesContext(connection) as queries:
            page = tuner.get(
                f"/console/test/memories/{leader.pk}/", headers={"HX-Request": "true", "HX-Target": "detail"}
            )
        assert page.content.decode().count("<strong>Approve</strong> →") == upto
        counts.append(len(queries))
    assert counts[0] == counts[1]
