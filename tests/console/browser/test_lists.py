"""Lists with a case beside them: what keys and clicks act on, and where the list is afterwards."""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import Route, expect

from apps.console import paging
from apps.memories.models import Memory, MemoryLink
from apps.pipeline.core.enums import LinkKind, Status
from apps.tenants.models import Project
from tests.console.browser.conftest import OpenPage, Window, status_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HELD = """
key => { for (let count = 0; count < 12; count++) document.body.dispatchEvent(
    new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true, repeat: count > 0})) }
"""


def statuses(waiting: list[Memory]) -> list[str]:
    return [status_of(memory) for memory in waiting]


def shown_case(window: Window) -> str:
    return str(window.page.locator("[data-case]").get_attribute("data-case")).removeprefix("row-")


# --- which memories a key decides about


def test_a_key_that_is_held_down_decides_once(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    window.open("review/")
    window.page.evaluate(HELD, "a")
    expect(window.page.locator("[data-row]")).to_have_count(len(waiting) - 1)
    window.settle()
    assert statuses(waiting).count(Status.ACTIVE) == 1


def test_keys_decide_about_the_selected_rows(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    window.open("review/")
    window.press("x", "j", "x", "j", "e", "a")
    expect(window.page.locator("[data-row]")).to_have_count(len(waiting) - 2)
    assert [each == Status.ACTIVE for each in statuses(waiting)[:3]] == [True, True, False]


def test_selected_rows_are_rejected_for_a_reason(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    window.open("review/")
    window.page.get_by_label("Select all").check()
    expect(window.page.get_by_text(f"{len(waiting)} selected")).to_be_visible()
    window.press("r")
    expect(window.page.locator("[data-bulk]").get_by_role("button", name="not true")).to_be_focused()
    window.press("1")
    expect(window.page.get_by_text("All caught up")).to_be_visible()
    assert set(statuses(waiting)) == {Status.REJECTED}


def test_a_range_is_selected_and_escape_clears_it(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    window.open("review/")
    boxes = window.page.locator("[data-row] input[type=checkbox]")
    boxes.first.click()
    boxes.nth(2).click(modifiers=["Shift"])
    expect(window.page.get_by_text("3 selected")).to_be_visible()
    window.press("Escape")
    expect(window.page.locator("[data-row] input:checked")).to_have_count(0)
    window.press("x", "j", "j", "X")
    expect(window.page.get_by_text("3 selected")).to_be_visible()


def test_the_first_selected_row_moves_nothing(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    window.open("review/")
    row = window.page.locator("[data-row]").first
    before = row.bounding_box()
    window.press("x")
    expect(window.page.get_by_text("1 selected")).to_be_visible()
    assert row.bounding_box() == before


def test_one_key_does_not_merge_what_is_merely_similar(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    window.open("review/")
    window.press("m")
    choices = window.page.get_by_role("group", name="Merge into")
    expect(choices).to_contain_text("similarity")
    assert set(statuses(waiting)) == {Status.PENDING_REVIEW}
    window.press("1")
    expect(window.page.get_by_text("Merged.")).to_be_visible()
    assert statuses(waiting).count(Status.MERGED) == 1


def test_selection_and_choices_are_for_everyone(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    for keys in (["x", "j", "x", "r"], ["m"], ["?"]):
        window.open("review/")
        window.press(*keys)
        window.settle()
        window.assert_for_everyone(f"review/ after {keys}")


# --- while another row is loaded, or can't be


def test_a_click_decides_about_nothing_while_another_row_is_loaded(
    open_window: OpenPage, waiting: list[Memory]
) -> None:
    window = open_window()
    late: list[Route] = []
    window.page.route(f"**/memories/{waiting[1].pk}/", lambda route: late.append(route))
    window.open("review/")
    with window.page.expect_request(f"**/memories/{waiting[1].pk}/"):
        window.press("j")
    box = window.page.locator(".decide button").first.bounding_box()
    assert box is not None
    window.page.mouse.click(box["x"] + 5, box["y"] + 5)
    late[0].continue_()
    expect(window.page.locator(".statement")).to_have_text(waiting[1].content)
    window.settle()
    assert set(statuses(waiting)) == {Status.PENDING_REVIEW}


@pytest.mark.parametrize("problem", ["gone", "offline"])
def test_a_row_that_can_not_be_loaded_leaves_the_case_and_its_row_current(
    open_window: OpenPage, waiting: list[Memory], problem: str
) -> None:
    window = open_window()
    address = f"**/memories/{waiting[1].pk}/"
    if problem == "offline":
        window.page.route(address, lambda route: route.abort())
    window.open("review/")
    if problem == "gone":
        Memory.objects.filter(pk=waiting[1].pk).delete()
    window.press("j")
    expect(window.page.get_by_role("alert")).to_be_visible()
    expect(window.page.locator("[data-row]").first).to_have_attribute("aria-current", "true")
    expect(window.page.locator(".statement")).to_have_text(waiting[0].content)
    window.press("a")
    expect(window.page.locator("[data-row]")).to_have_count(len(waiting) - 1)
    assert status_of(waiting[0]) == Status.ACTIVE
    window.settle()
    window.misdeeds.clear()  # the browser itself names the failed request


def test_a_decision_without_its_cookie_is_not_lost_silently(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    with window.page.expect_response(re.compile(r"/presence/")):  # sent a moment after the page was opened
        window.open("review/")
    window.page.context.clear_cookies(name="csrftoken")
    window.press("a")
    expect(window.page.get_by_role("alert")).to_contain_text("Reload it and try again")
    assert set(statuses(waiting)) == {Status.PENDING_REVIEW}
    window.misdeeds.clear()  # the browser itself names the refused request


# --- where the list is afterwards


def test_the_address_names_the_open_row(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    window.open("review/")
    window.press("j", "j")
    expect(window.page.locator(".statement")).to_have_text(waiting[2].content)
    window.page.reload()
    expect(window.page.locator(".statement")).to_have_text(waiting[2].content)
    window.page.locator("#detail a[href*='/users/']").click()
    expect(window.page.get_by_role("link", name="Facts over time")).to_be_visible()
    window.page.go_back()
    expect(window.page.locator(".statement")).to_have_text(waiting[2].content)
    expect(window.page.locator("[data-row]").nth(2)).to_have_attribute("aria-current", "true")


def test_undo_opens_what_was_undone(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    window.open("review/")
    window.press("j", "a")
    expect(window.page.locator("[data-row]")).to_have_count(len(waiting) - 1)
    window.press("u")
    expect(window.page.locator("[data-row]")).to_have_count(len(waiting))
    expect(window.page.locator(".statement")).to_have_text(waiting[1].content)


def test_a_new_case_is_shown_from_its_beginning_and_keeps_the_focus(
    open_window: OpenPage, waiting: list[Memory]
) -> None:
    window = open_window(height=500)
    window.open("review/")
    window.page.locator("#detail").evaluate("detail => detail.scrollTo(0, 1000)")
    window.press("j")
    expect(window.page.locator(".statement")).to_have_text(waiting[1].content)
    window.settle()
    assert window.page.locator("#detail").evaluate("detail => detail.scrollTop") == 0
    window.page.locator(".decide button").first.press("Enter")
    expect(window.page.locator("[data-row]")).to_have_count(len(waiting) - 1)
    expect(window.page.locator("[data-case]")).to_be_focused()


def test_escape_closes_a_panel(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    window.open("review/")
    for key in ("r", "e"):
        window.press(key)
        expect(window.page.locator(".decide .panel[open]")).to_have_count(1)
        window.press("Escape")
        expect(window.page.locator(".panel[open]")).to_have_count(0)


def test_the_last_page_follows_a_page_without_rows(
    open_window: OpenPage, waiting: list[Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging.paginate, "__kwdefaults__", {"size": 2})
    window = open_window()
    last = (len(waiting) + 1) // 2
    for number in (999, last):
        window.open(f"review/?page={number}")
        expect(window.page.get_by_text(f"Page {last}")).to_be_visible()
    for left in range(len(waiting) - 2 * (last - 1), 0, -1):
        expect(window.page.locator("[data-row]")).to_have_count(left)
        window.press("a")
    expect(window.page.locator("[data-row]")).to_have_count(2)
    expect(window.page.get_by_text("All caught up")).to_have_count(0)


def test_rows_stay_clear_of_the_header(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window(height=420)
    window.open("review/")
    for _ in waiting:
        window.press("j")
    window.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    for _ in waiting:
        window.press("k")
        window.settle()
        top = window.page.evaluate("document.querySelector('[data-bulk]').getBoundingClientRect().bottom")
        row = window.page.locator("[data-row][aria-current=true]").bounding_box()
        assert row is not None
        assert row["y"] >= top - 1


def test_keys_move_in_a_list_of_pages_and_enter_opens_one(open_window: OpenPage, full_project: Project) -> None:
    window = open_window()
    page = window.page
    window.open("traces/")
    window.press("j", "j", "j")
    current = page.locator("[data-row][aria-current=true]")
    title = current.locator(".said").inner_text()
    assert title != page.locator("[data-row] .said").first.inner_text()
    window.press("Enter")
    expect(page.get_by_role("heading", name="Stages")).to_be_visible()
    page.go_back()
    expect(current.locator(".said")).to_have_text(title)


def test_a_pair_that_was_dated_is_kept_by_enter(open_window: OpenPage, full_project: Project) -> None:
    MemoryLink.objects.all().delete()
    one, other = Memory.objects.filter(project=full_project, status=Status.ACTIVE)[:2]
    pair = {"end_user": one.end_user, "project": full_project, "from_memory": one, "to_memory": other}
    MemoryLink.objects.create(**pair, kind=LinkKind.CONTRADICTS, created_at=timezone.now())
    window = open_window()
    window.open("contradictions/")
    window.press("b")
    window.page.get_by_role("group", name="A is valid").get_by_label("from").press("Enter")
    expect(window.page.get_by_text("Kept both.")).to_be_visible()
    assert (status_of(one), status_of(other)) == (Status.ACTIVE, Status.ACTIVE)
