"""The review queue in the browser: groups, pages, skipping, a phone, and keys pressed too early."""

import pytest
from playwright.sync_api import expect

from apps.console import paging as paging
from apps.memories.models import Memory
from apps.pipeline.core.enums import Status
from apps.tenants.models import Project
from tests.console.browser.conftest import OpenPage, status_of
from tests.console.pending import pending, queue_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def same(project: Project) -> list[Memory]:
    """Three memories with the same words of three users, and one with others."""
    return [*(pending(project, "Likes tea", user=user) for user in ("rui", "mia", "kim")), pending(project, "Sails")]


def test_a_group_is_decided_without_the_members_that_lost_their_tick(open_window: OpenPage, same: list[Memory]) -> None:
    window = open_window()
    page = window.page
    window.open("review/")
    page.get_by_label("mia", exact=True).uncheck()
    expect(page.get_by_role("button", name="Approve 2")).to_be_visible()
    window.press("a")
    expect(page.get_by_text("2 memories approved.")).to_be_visible()
    # What is left is a row again, at its place in the queue; the row that came after the group is open.
    expect(page.locator("[data-row]")).to_have_count(2)
    expect(page.locator("[data-row]").first).to_contain_text("Likes tea")
    expect(page.locator(".statement")).to_have_text("Sails")
    assert [status_of(each) == Status.ACTIVE for each in same] == [True, False, True, False]
    window.press("u")
    expect(page.get_by_role("button", name="Approve 3")).to_be_visible()


def test_reviewing_goes_on_with_the_next_page_and_ends_with_what_was_skipped(
    open_window: OpenPage, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging.paginate, "__kwdefaults__", {"size": 2})
    queue = queue_of(project, 4)
    window = open_window()
    statement = window.page.locator(".statement")
    window.open("review/")
    window.press(
        "a", "a", "a", "a"
    )  # the rows of the next page are not on the screen yet: nothing is decided about them
    for key, expected in [("", 2), ("s", 3), ("a", 2)]:
        if key:
            window.press(key)
        expect(statement).to_have_text(queue[expected].content)
        window.settle()
        decided = [status_of(each) == Status.ACTIVE for each in queue]
        assert decided == [True, True, False, expected == 2 and key == "a"]
    window.press("a")
    expect(window.page.get_by_text("All caught up")).to_be_visible()


def test_a_phone_shows_the_list_or_the_case(open_window: OpenPage, project: Project) -> None:
    queue = queue_of(project, 3)
    window = open_window(width=390, height=844)
    page = window.page
    window.open("review/")
    expect(page.locator(".statement")).to_be_hidden()
    window.press("a")  # nothing to decide about is on the screen
    page.locator("[data-row]").nth(1).click()
    expect(page.locator(".statement")).to_have_text(queue[1].content)
    expect(page.locator("[data-row]").first).to_be_hidden()
    page.get_by_role("button", name="Approve").click()
    expect(page.locator(".statement")).to_have_text(queue[2].content)
    page.get_by_role("button", name="All waiting").click()
    expect(page.locator("[data-row]")).to_have_count(2)
    page.locator("[data-row]").first.click()
    expect(page.locator(".statement")).to_have_text(queue[0].content)
    page.go_back()
    expect(page.locator("[data-row]").first).to_be_visible()
    assert [status_of(each) == Status.ACTIVE for each in queue] == [False, True, False]
