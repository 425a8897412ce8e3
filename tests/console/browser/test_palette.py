"""The palette: from any page to anything, by the keyboard alone."""

import re

import pytest
from playwright.sync_api import expect

from apps.memories.models import Memory
from apps.tenants.models import Project
from tests.console.browser.conftest import NARROW, OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_from_a_page_to_a_memory_by_keyboard_and_to_a_page_on_a_phone(
    open_window: OpenPage, full_project: Project
) -> None:
    window = open_window()
    window.open("queue/")
    asked: list[str] = []
    window.page.on("request", lambda request: asked.append(request.url) if "/palette/" in request.url else None)
    window.press("Control+k")
    expect(window.page.locator(".palette-option").first).to_have_attribute("aria-selected", "true")
    window.assert_accessible("queue/ with the palette")
    before = len(asked)
    window.page.keyboard.type("green tea", delay=5)
    expect(window.page.get_by_role("option", name="green tea").first).to_be_visible()
    assert len(asked) == before + 1
    window.press("ArrowDown", "ArrowUp", "Enter")
    memory = Memory.objects.get(project=full_project, content__contains="green tea")
    expect(window.page).to_have_url(re.compile(f"/memories/{memory.pk}/"))

    # On a phone a button opens it; Escape closes it, and Enter waits for the answer.
    window.page.set_viewport_size(NARROW)
    window.open("review/")
    window.page.get_by_role("button", name="Go to anything").click()
    expect(window.page.locator(".palette-option").first).to_be_visible()
    assert not window.is_too_wide()
    window.press("Escape")
    expect(window.page.get_by_role("combobox", name="Go to")).to_be_hidden()
    window.press("Control+k")
    window.page.keyboard.type("which")
    window.press("Enter")
    expect(window.page.get_by_role("heading", name="Which one?", level=1)).to_be_visible()
    window.press("?")
    expect(window.page.get_by_text("go to a page, user, memory")).to_be_visible()
