"""Reviewers at work on pairs: contradictions, changes and possible duplicates."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from apps.memories.models import Memory, MemoryLink
from apps.memories.services.store import StoreRequest, store
from apps.pipeline.core.enums import LinkKind, MemoryType, Status
from apps.pipeline.core.statement import Mention, ObjectValue
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.tenants.models import Project
from tests.console.browser.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def memory(project: Project, content: str, predicate: str, value: str, *, status: Status = Status.ACTIVE) -> Memory:
    new = NewMemory(
        type=MemoryType.FACT,
        subject=Mention("User"),
        predicate=predicate,
        object=ObjectValue(literal=value),
        content=content,
        status=status,
        said_at=timezone.now(),
    )
    request = StoreRequest(project_id=project.pk, api_key_id=None, user_id="rui", memories=(new,))
    return Memory.objects.get(pk=store(request=request)[0])


def link(newer: Memory, older: Memory, kind: LinkKind) -> MemoryLink:
    return MemoryLink.objects.create(
        end_user=newer.end_user, project=newer.project, from_memory=newer, to_memory=older, kind=kind
    )


@pytest.fixture
def pending(project: Project) -> Memory:
    """A pending memory that contradicts an active one."""
    older = memory(project, "Rui drinks coffee every morning.", "drinks", "coffee")
    newer = memory(project, "Rui has given up coffee.", "gave_up", "coffee", status=Status.PENDING_REVIEW)
    link(newer, older, LinkKind.CONTRADICTS)
    return newer


def test_the_page_of_a_memory_shows_what_was_decided(open_window: OpenPage, pending: Memory) -> None:
    window = open_window()
    window.open(f"memories/{pending.pk}/")
    window.press("p")
    expect(window.page.get_by_role("rowheader", name="approved by ana")).to_be_visible()
    expect(window.page.get_by_role("button", name="Approve")).to_have_count(0)
    assert Memory.objects.get(content__contains="every morning").status == Status.SUPERSEDED


def test_an_answer_is_shown_although_its_form_is_gone(open_window: OpenPage, pending: Memory) -> None:
    window = open_window()
    window.open("review/")
    form = window.page.locator(".decide form").first
    form.evaluate("form => { form.requestSubmit(); form.remove() }")
    expect(window.page.get_by_text("Approved.")).to_be_visible()


def test_a_double_click_decides_nothing_else(open_window: OpenPage, pending: Memory) -> None:
    pair = MemoryLink.objects.get(kind=LinkKind.CONTRADICTS)
    Memory.objects.filter(pk=pending.pk).update(status=Status.ACTIVE)
    window = open_window()
    window.open(f"contradictions/{pair.pk}/")
    window.page.set_default_timeout(5_000)
    both = window.page.locator("summary", has_text="Both, at different times")
    box = both.bounding_box()
    assert box is not None
    window.page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    window.settle()
    assert MemoryLink.objects.get(pk=pair.pk).resolution in ("", "both")
    assert {each.status for each in Memory.objects.all()} == {Status.ACTIVE}
