"""Lists with a case beside them: what keys and clicks act on, and where the list is afterwards."""

import pytest
from playwright.sync_api import Route, expect

from apps.console import paging as paging
from apps.memories.models import Memory
from apps.pipeline.core.enums import Status
from tests.console.browser.conftest import OpenPage, Window, begin, status_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HELD = """
key => { for (let count = 0; count < 12; count++) document.body.dispatchEvent(
    new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true, repeat: count > 0})) }
"""


def statuses(waiting: list[Memory]) -> list[str]:
    return [status_of(memory) for memory in waiting]


def test_keys_decide_about_the_open_row_or_the_selected_rows(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    page = window.page
    rows = page.locator("[data-row]")
    window.open("review/")

    # The first selected row moves nothing.
    before = rows.first.bounding_box()
    window.press("x")
    expect(page.get_by_text("1 selected")).to_be_visible()
    assert rows.first.bounding_box() == before
    window.press("Escape")

    # A range is selected by the mouse and by keys, and Escape clears it.
    boxes = page.locator("[data-row] input[type=checkbox]")
    boxes.first.click()
    boxes.nth(2).click(modifiers=["Shift"])
    expect(page.get_by_text("3 selected")).to_be_visible()
    window.press("Escape")
    expect(page.locator("[data-row] input:checked")).to_have_count(0)
    window.press("x", "j", "j", "X")
    expect(page.get_by_text("3 selected")).to_be_visible()

    # A key that is held down decides once.
    begin(window, waiting)
    page.evaluate(HELD, "a")
    expect(rows).to_have_count(len(waiting) - 1)
    window.settle()
    assert statuses(waiting).count(Status.ACTIVE) == 1

    # Keys decide about the selected rows.
    begin(window, waiting)
    window.press("x", "j", "x", "j", "e", "a")
    expect(page.get_by_role("button", name="Approve 2")).to_be_focused()
    window.press("Enter")
    expect(rows).to_have_count(len(waiting) - 2)
    assert [each == Status.ACTIVE for each in statuses(waiting)[:3]] == [True, True, False]

    # Selected rows are rejected for a reason.
    begin(window, waiting)
    page.get_by_label("Select all").check()
    expect(page.get_by_text(f"{len(waiting)} selected")).to_be_visible()
    window.press("r")
    expect(page.locator("[data-bulk]").get_by_role("button", name="not true")).to_be_focused()
    window.press("1")
    expect(page.get_by_text("All caught up")).to_be_visible()
    assert set(statuses(waiting)) == {Status.REJECTED}

    # One key does not merge what is merely similar.
    begin(window, waiting)
    window.press("m")
    expect(page.get_by_role("group", name="Merge into")).to_contain_text("similarity")
    assert set(statuses(waiting)) == {Status.PENDING_REVIEW}
    window.press("1")
    expect(page.get_by_text("Merged.")).to_be_visible()
    assert statuses(waiting).count(Status.MERGED) == 1


def test_selection_choices_and_help_are_for_everyone(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    for keys in (["x", "j", "x", "r"], ["m"], ["?"]):
        window.open("review/")
        window.press(*keys)
        window.settle()
        window.assert_for_everyone(f"review/ after {keys}")
    expect(window.page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    window.press("Escape")
    expect(window.page.get_by_role("dialog", name="Keyboard")).to_be_hidden()


def test_nothing_is_decided_unseen_while_a_row_is_loaded_or_can_not_be(
    open_window: OpenPage, waiting: list[Memory]
) -> None:
    window = open_window()
    page = window.page
    statement = page.locator(".statement")
    address = f"**/memories/{waiting[1].pk}/"
    asked: list[Route] = []
    is_offline = False
    # Before the page is there: a request that meets interception half switched on is made, but never told of.
    page.route(address, lambda route: route.abort() if is_offline else asked.append(route))

    # A click decides about nothing while another row is loaded.
    window.open("review/")
    with page.expect_request(address):
        window.press("j")
    box = page.locator(".decide button").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 5, box["y"] + 5)
    asked.pop().continue_()
    expect(statement).to_have_text(waiting[1].content)
    window.settle()
    assert set(statuses(waiting)) == {Status.PENDING_REVIEW}

    # A late answer does not show what was left.
    begin(window, waiting)
    with page.expect_request(address):  # typed at once, it would not even be asked
        window.press("j")
    window.press("j")
    expect(statement).to_have_text(waiting[2].content)
    asked.pop().continue_()
    window.settle()
    expect(statement).to_have_text(waiting[2].content)

    # A row that can't be loaded leaves the case and its row current, and keys decide about that.
    is_offline = True
    begin(window, waiting)
    assert_first_case_stays_current(window, waiting)

    # A decision without its cookie is not lost silently.
    is_offline = False
    begin(window, waiting)
    page.context.clear_cookies(name="csrftoken")
    window.press("a")
    expect(page.get_by_role("alert")).to_contain_text("Reload it and try again")
    assert set(statuses(waiting)) == {Status.PENDING_REVIEW}

    # So does a row that is gone.
    page.unroute(address)
    begin(window, waiting)
    Memory.objects.filter(pk=waiting[1].pk).delete()
    assert_first_case_stays_current(window, waiting)
    window.settle()
    window.misdeeds.clear()  # the browser itself names the failed and refused requests


def assert_first_case_stays_current(window: Window, waiting: list[Memory]) -> None:
    window.press("j")
    expect(window.page.get_by_role("alert")).to_be_visible()
    expect(window.page.locator("[data-row]").first).to_have_attribute("aria-current", "true")
    expect(window.page.locator(".statement")).to_have_text(waiting[0].content)
    window.press("a")
    expect(window.page.locator("[data-row]")).to_have_count(len(waiting) - 1)
    assert status_of(waiting[0]) == Status.ACTIVE


def test_where_the_list_is_afterwards(
    open_window: OpenPage, waiting: list[Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    window = open_window()
    page = window.page
    rows, statement = page.locator("[data-row]"), page.locator(".statement")

    # The address names the open row.
    window.open("review/")
    window.press("j", "j")
    expect(statement).to_have_text(waiting[2].content)
    page.reload()
    expect(statement).to_have_text(waiting[2].content)
    page.locator("#detail a[href*='/users/']").click()
    expect(page.get_by_role("link", name="Facts over time")).to_be_visible()
    page.go_back()
    expect(statement).to_have_text(waiting[2].content)
    expect(rows.nth(2)).to_have_attribute("aria-current", "true")

    # Undo opens what was undone.
    window.press("k")
    expect(statement).to_have_text(waiting[1].content)
    window.press("a")
    expect(rows).to_have_count(len(waiting) - 1)
    window.press("u")
    expect(rows).to_have_count(len(waiting))
    expect(statement).to_have_text(waiting[1].content)

    # Escape closes a panel.
    for key in ("r", "e"):
        window.press(key)
        expect(page.locator(".decide .panel[open]")).to_have_count(1)
        window.press("Escape")
        expect(page.locator(".panel[open]")).to_have_count(0)

    # Rows stay clear of the header, in a window of little height.
    page.set_viewport_size({"width": 1280, "height": 420})
    begin(window, waiting)
    for _ in waiting:
        window.press("j")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    for _ in waiting:
        window.press("k")
        window.settle()
        top = page.evaluate("document.querySelector('[data-bulk]').getBoundingClientRect().bottom")
        row = page.locator("[data-row][aria-current=true]").bounding_box()
        assert row is not None
        assert row["y"] >= top - 1

    # A new case is shown from its beginning, and keeps the focus.
    page.set_viewport_size({"width": 1280, "height": 500})
    begin(window, waiting)
    page.locator("#detail").evaluate("detail => detail.scrollTo(0, 1000)")
    window.press("j")
    expect(statement).to_have_text(waiting[1].content)
    window.settle()
    assert page.locator("#detail").evaluate("detail => detail.scrollTop") == 0
    page.locator(".decide button").first.press("Enter")
    expect(rows).to_have_count(len(waiting) - 1)
    expect(page.locator("[data-case]")).to_be_focused()
    window.settle()

    # The last page follows a page without rows.
    monkeypatch.setattr(paging.paginate, "__kwdefaults__", {"size": 2})
    begin(window, waiting)
    last = (len(waiting) + 1) // 2
    for number in (999, last):
        window.open(f"review/?page={number}")
        expect(page.get_by_text(f"Page {last}")).to_be_visible()
    for left in range(len(waiting) - 2 * (last - 1), 0, -1):
        expect(rows).to_have_count(left)
        window.press("a")
    expect(rows).to_have_count(2)
    expect(page.get_by_text("All caught up")).to_have_count(0)
