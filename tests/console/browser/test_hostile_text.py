"""Hostile stored text is shown as text on every page: no dialog, no injected element, no foreign request."""

import pytest
from django.utils.timezone import now

from apps.memories.models import Entity, EntityAlias, Memory, MemoryLink
from apps.pipeline.core.enums import LinkKind, LinkStatus, Reason, Role, Status
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.input_validation import storable
from apps.tenants.models import EndUser, Project
from apps.traces.models import Turn
from tests.console.browser.conftest import OpenPage, Window
from tests.console.browser.test_pages import pages
from tests.hostile_texts import listed_texts, sampled

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SELF_MADE = (
    '"><img src=x onerror=alert(1)>',
    "<svg onload=alert(1)>",
    "{{ 7|add:7 }}{% now 'Y' %}",
    "</textarea><script>alert(1)</script>",
    "javascript:alert(1)",
    "<a href='//elsewhere.invalid'>here</a>",
)
# What only an injection could have put into a page.
INJECTED = "main :is(script, img, iframe, object, embed, link, style, base, meta), [onerror], [onload], [onclick]"


def hostile() -> list[str]:
    """Return our own texts, and a sample of the list of naughty strings where there is a copy of it."""
    return [*SELF_MADE, *(text for text in map(storable, sampled(listed_texts())) if text.strip())]


def test_hostile_text_stays_text(open_window: OpenPage, full_project: Project) -> None:
    texts = hostile()
    fill(full_project, texts)
    window = open_window()
    for path in pages(full_project):
        look(window, path)
    user = EndUser.objects.get(project=full_project).pk
    for page in range(1, len(texts) // 50 + 2):
        for path in ("review/?", "contradictions/?", "entities/?", f"users/{user}/?tab=timeline&"):
            look(window, f"{path}page={page}")


def look(window: Window, path: str) -> None:
    window.open(path)
    assert window.page.locator(INJECTED).count() == 0, path
    assert not window.is_too_wide(), path


def fill(project: Project, texts: list[str]) -> None:
    """Put each text into everything that a caller can name."""
    model = Memory.objects.filter(project=project, status=Status.ACTIVE, trace__isnull=False).latest("created_at")
    turn = Turn.objects.filter(end_user=model.end_user).latest("received_at")
    mine = {"end_user": model.end_user, "project": project}
    memories = Memory.objects.bulk_create(
        Memory(
            **mine,
            type=model.type,
            subject=model.subject,
            predicate=text[:64],
            object_text=text,
            content=text,
            canonical_hash=f"{number:032}",
            confidence=0.4,
            evidence=text,
            status=Status.PENDING_REVIEW,
            review_reasons=[Reason.CONTRADICTION],
            created_at=now(),
        )
        for number, text in enumerate(texts)
    )
    MemoryLink.objects.bulk_create(
        MemoryLink(**mine, from_memory=memory, to_memory=model, kind=LinkKind.CONTRADICTS, status=LinkStatus.OPEN)
        for memory in memories
    )
    entities = Entity.objects.bulk_create(Entity(**mine, name=text[:255], mention_count=9) for text in texts)
    EntityAlias.objects.bulk_create(
        EntityAlias(end_user=model.end_user, entity=entity, alias=entity.name, folded=str(number))
        for number, entity in enumerate(entities)
    )
    Turn.objects.bulk_create(
        Turn(
            id=new_id(),
            end_user=model.end_user,
            session=turn.session,
            trace=turn.trace,
            position=1_000 + number,
            role=Role.USER,
            speaker=text[:120],
            content=text,
        )
        for number, text in enumerate(texts)
    )
