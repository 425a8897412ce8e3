"""The page of all memories in a browser: rows are selected, changed together, and come back with one undo."""

import pytest
from playwright.sync_api import expect

from apps.memories.models import Memory
from apps.pipeline.core.enums import Status
from apps.tenants.enums import MemberRole
from apps.tenants.models import Project
from tests.console.browser.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_selected_memories_are_archived_one_is_closed_and_they_come_back(
    open_window: OpenPage, full_project: Project
) -> None:
    active = Memory.objects.filter(project=full_project, status=Status.ACTIVE).count()
    window = open_window(role=MemberRole.REVIEWER)
    window.open("memories/?status=active")
    window.press("j", "x", "j", "x", "a")
    expect(window.page.get_by_text("2 memories archived.")).to_be_visible()
    expect(window.page.locator("[data-row]")).to_have_count(active - 2)
    expect(window.page.locator("[data-bulk-count]")).to_have_text("0")
    window.press("u")
    expect(window.page.locator("[data-row]")).to_have_count(active)
    window.settle()
    assert Memory.objects.filter(project=full_project, status=Status.ACTIVE).count() == active

    # A memory that has ended is closed on its page.
    tea = Memory.objects.get(project=full_project, content__contains="green tea")
    window.open(f"memories/{tea.pk}/")
    window.press("c")
    window.page.get_by_role("button", name="Close it").click()
    expect(window.page.locator("[data-case] .chip").first).to_have_text("superseded")
    expect(window.page.get_by_role("group", name="Change this memory").get_by_role("button")).to_have_count(1)
    window.press("u")
    expect(window.page.locator("[data-case] .chip").first).to_have_text("active")
