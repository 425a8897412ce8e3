"""Any text in a query or form of the console gives a page or a refusal; never an error of the server."""

from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from django.urls import resolve

from apps.alerts.models import Alert
from apps.memories.models import Entity, Memory, MemoryLink
from apps.pipeline.core.enums import Status
from apps.tenants.models import Project
from tests.hostile_texts import hostile_cases

QUERIES = {
    "review": ("q", "user", "reason", "type", "page"),
    "contradictions": ("q", "kind", "page"),
    "memories": (
        "q",
        "user",
        "of",
        "status",
        "type",
        "writer",
        "source",
        "tag",
        "visibility",
        "least",
        "most",
        "since",
        "until",
        "by",
        "after",
        "before",
    ),
    "memories/export": ("q", "tag", "format", "by"),
    "users": ("q", "page"),
    "entities": ("q", "type", "page"),
    "traces": ("q", "user", "status", "reason", "since", "until", "page"),
    "ask": ("q", "user"),
    "counts": ("list", "shown_at", "q"),
    "patterns": ("q", "reason", "by"),
    "dashboard": ("range",),
    "queue": ("state", "page"),
    "alerts": ("state", "kind", "page"),
    "alerts/recipients": ("page",),
    "audit": ("actor", "verb", "user", "since", "until", "page"),
    "audit/export": ("actor", "verb", "user", "since", "until"),
    "recall": ("user", "q", "as_of", "stakes", "budget", "limit", "min_score", "version", "against"),
    "keys": ("page",),
    "members": ("page",),
    "configuration": ("page",),
    "configuration/1": ("against",),
    "users/{user}": ("tab", "q", "stakes", "budget", "status", "page"),
    "users/{user}/erase": ("page",),
    "entities/{entity}/merge": ("q", "page"),
}
FORMS = {
    "review/approve": ("memory", "content", "value", "replaces"),
    "review/reject": ("memory", "reason"),
    "undo": ("memory", "link"),
    "memories/change": ("memory", "change"),
    "memories/{memory}/reword": ("memory", "content", "value"),
    "memories/{memory}/close": ("memory", "ends_on"),
    "patterns/try": ("content", "before", "role"),
    "queue/retry": ("error", "user"),
    "alerts/{alert}/acknowledge": ("note",),
    "alerts/recipients": ("webhook_url", "mail_addresses"),
    "keys": ("name", "scopes", "expires_at"),
    "members": ("username", "role"),
    "configuration/change": ("base", "note", "redaction.custom", "extraction.model"),
    "configuration/changes": ("base", "redaction.custom", "confidence.review_below"),
    "contradictions/{link}/settle": ("resolution", "changed_on", "from", "to"),
    "patterns/new": ("name", "pattern", "reason", "languages", "order"),
    "patterns/preview": ("name", "pattern", "days"),
    "entities/{entity}/merge": ("into",),
    "users/{user}/erase": ("user_id",),
    "members/1/admin/restore": ("offer",),
}


@pytest.fixture
def things(full_project: Project) -> dict[str, str]:
    """Identifiers of what pages are about."""
    memory = Memory.objects.filter(project=full_project).earliest("created_at")
    entity = Entity.objects.filter(project=full_project, is_user=False).earliest("name")
    link = MemoryLink.objects.filter(project=full_project).earliest("id")
    alert = Alert.objects.get(project=full_project)
    ids = {"entity": entity.pk, "link": link.pk, "alert": alert.pk, "user": memory.end_user_id, "memory": memory.pk}
    return {name: str(each) for name, each in ids.items()}


def test_the_pages_are_there(things: dict[str, str]) -> None:
    """An address that leads nowhere would take any text."""
    for page in (*QUERIES, *FORMS):
        resolve(f"/console/test/{page.format(**things)}/")


def test_text_in_queries(admin: Client, full_project: Project, things: dict[str, str]) -> None:
    for (page, name), text in hostile_cases([(page, name) for page, names in QUERIES.items() for name in names]):
        value = quote(text.encode(errors="surrogatepass"))
        answer = admin.get(f"/console/{full_project.slug}/{page.format(**things)}/?{name}={value}")
        assert answer.status_code < 500, (page, name, text)


def test_text_in_forms(admin: Client, full_project: Project, things: dict[str, str]) -> None:
    for (page, name), text in hostile_cases([(page, name) for page, names in FORMS.items() for name in names]):
        value = quote(text.encode(errors="surrogatepass"))
        answer = admin.post(
            f"/console/{full_project.slug}/{page.format(**things)}/",
            f"{name}={value}",
            content_type="application/x-www-form-urlencoded",
        )
        assert answer.status_code < 500, (page, name, text)


@pytest.mark.parametrize(
    ("content", "status", "stored"),
    [
        ("\u202eUser lives in Porto.\u200b", 200, "User lives in Porto."),
        ("x" * 20_001, 422, None),
        ("\u200b", 422, None),
        ("a\0b", 400, None),
    ],
)
def test_what_a_reviewer_writes_is_cleaned(
    admin: Client, full_project: Project, content: str, status: int, stored: str | None
) -> None:
    memory = Memory.objects.filter(project=full_project, status=Status.ACTIVE).earliest("created_at")
    Memory.objects.filter(pk=memory.pk).update(status=Status.PENDING_REVIEW)
    form: dict[str, Any] = {"memory": f"{memory.pk}:{memory.version}", "content": content}
    answer = admin.post(f"/console/{full_project.slug}/review/approve/", form)
    assert answer.status_code == status
    before = memory.content
    memory.refresh_from_db()
    assert memory.content == (stored or before)


def test_only_an_offered_role_is_restored(admin: Client, full_project: Project, django_user_model: Any) -> None:
    stranger = django_user_model.objects.create_user("stranger")
    url = f"/console/{full_project.slug}/members/{stranger.pk}/admin/restore/"
    assert admin.post(url).status_code == 404
    assert admin.post(f"{url}?offer=forged").status_code == 404
    assert not full_project.memberships.filter(user=stranger).exists()
