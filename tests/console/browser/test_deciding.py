"""Reviewers at work: from the keyboard, with undo, and two of them at once."""

import pytest
from playwright.sync_api import expect

from apps.memories.models import Memory, MemoryLink
from apps.pipeline.core.enums import LinkKind, Status
from apps.tenants.models import Project
from tests.console.browser.conftest import OpenPage, begin, status_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

UNDO_AT_ONCE = """
new MutationObserver(() => document.querySelector("#toasts [data-undo]")?.click())
    .observe(document.getElementById("toasts"), {childList: true, subtree: true})
"""


def test_review_from_the_keyboard(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    page = window.page
    rows, statement = page.locator("[data-row]"), page.locator(".statement")
    window.open("review/")
    expect(rows).to_have_count(len(waiting))
    expect(statement).to_have_text(waiting[0].content)
    window.press("j")
    expect(statement).to_have_text(waiting[1].content)
    window.press("k")
    expect(statement).to_have_text(waiting[0].content)

    # Counts in the menu, in the tabs and in the title follow each decision and its undo.
    tab = page.locator("#reasons .number").first
    expect(tab).to_have_text(str(len(waiting)))
    expect(page).to_have_title(f"({len(waiting)}) Is it true? · Test")
    for key, left, status in (
        ("a", len(waiting) - 1, Status.ACTIVE),
        ("u", len(waiting), Status.PENDING_REVIEW),
    ):
        window.press(key)
        expect(rows).to_have_count(left)
        expect(page.locator("#count-page-review")).to_have_text(str(left))
        expect(tab).to_have_text(str(left))
        expect(page).to_have_title(f"({left}) Is it true? · Test")
        assert status_of(waiting[0]) == status

    # A rejection needs a reason.
    expect(statement).to_have_text(waiting[0].content)
    window.press("r")
    expect(page.get_by_role("button", name="not true")).to_be_focused()
    window.press("5")
    expect(rows).to_have_count(len(waiting) - 1)
    assert status_of(waiting[0]) == Status.REJECTED

    # Keys typed ahead of the answers meet what they were meant for.
    begin(window, waiting)
    window.press("j", "a", "k", "r", "1")
    expect(rows).to_have_count(len(waiting) - 2)
    assert [status_of(memory) for memory in waiting[:3]] == [Status.REJECTED, Status.ACTIVE, Status.PENDING_REVIEW]
    window.press("u", "a", "e", "a")
    expect(page.get_by_label("Reworded")).to_be_focused()
    expect(rows).to_have_count(len(waiting) - 2)

    # Undo works from the moment it is seen.
    begin(window, waiting)
    page.evaluate(UNDO_AT_ONCE)
    with page.expect_response("**/undo/"):
        window.press("a")
    expect(rows).to_have_count(len(waiting))
    assert status_of(waiting[0]) == Status.PENDING_REVIEW

    # Many are approved at once, until the queue is empty.
    begin(window, waiting)
    for _ in waiting:
        window.press("x", "j")
    window.press("a")
    expect(page.get_by_text(f"{len(waiting)} memories become active")).to_be_visible()
    assert {status_of(memory) for memory in waiting} == {Status.PENDING_REVIEW}
    expect(page.get_by_role("button", name=f"Approve {len(waiting)}")).to_be_focused()
    window.press("Enter")
    expect(page.get_by_text("All caught up")).to_be_visible()
    assert {status_of(memory) for memory in waiting} == {Status.ACTIVE}
    window.press("u")
    expect(rows).to_have_count(len(waiting))

    # A memory is edited and approved.
    begin(window, waiting)
    window.press("e")
    field = page.get_by_label("Reworded")
    expect(field).to_be_focused()
    field.fill("Rui is fond of rain.")
    window.press("Control+Enter")
    expect(rows).to_have_count(len(waiting) - 1)
    memory = Memory.objects.get(pk=waiting[0].pk)
    assert (memory.content, memory.status) == ("Rui is fond of rain.", Status.ACTIVE)


def test_the_next_case_comes_with_the_answer_of_a_decision(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    window.open("review/")
    asked: list[str] = []
    window.page.on("request", lambda request: asked.append(request.url))
    for number in (0, 1):
        window.press("r")
        expect(window.page.get_by_role("button", name="not true")).to_be_focused()
        window.press("5")
        expect(window.page.locator(".statement")).to_have_text(waiting[number + 1].content)
        assert status_of(waiting[number]) == Status.REJECTED
    assert not [url for url in asked if "/memories/" in url]


def test_contradictions_from_the_keyboard(open_window: OpenPage, full_project: Project) -> None:
    one, other = Memory.objects.filter(project=full_project, status=Status.ACTIVE).order_by("said_at")[:2]
    window = open_window()
    page = window.page
    count = page.locator("#kinds .number").first

    def begin_with_a_pair() -> None:
        window.settle()
        MemoryLink.objects.all().delete()
        MemoryLink.objects.create(
            end_user=one.end_user, project=full_project, from_memory=one, to_memory=other, kind=LinkKind.CONTRADICTS
        )
        window.open("contradictions/")

    # One holds, which is undone.
    begin_with_a_pair()
    expect(count).to_have_text("1")
    window.assert_for_everyone("contradictions/ with an open pair")
    window.press("1")
    expect(page.get_by_text("No contradictions")).to_be_visible()
    expect(count).to_have_text("0")
    assert (status_of(one), status_of(other)) == (Status.ACTIVE, Status.REJECTED)
    window.press("u")
    expect(page.locator("[data-row]")).to_have_count(1)
    assert status_of(other) == Status.ACTIVE

    # Both hold, one of them until a day.
    window.press("b")
    until = page.get_by_role("group", name="B is valid").get_by_label("until")
    until.fill("2099-12-31")
    page.get_by_role("button", name="Keep both").click()
    expect(page.get_by_text("No contradictions")).to_be_visible()
    assert str(Memory.objects.get(pk=other.pk).valid_until).startswith("2099-12-31")

    # A pair that was dated is kept by Enter.
    begin_with_a_pair()
    window.press("b")
    page.get_by_role("group", name="A is valid").get_by_label("from").press("Enter")
    expect(page.get_by_text("Kept both.")).to_be_visible()
    assert (status_of(one), status_of(other)) == (Status.ACTIVE, Status.ACTIVE)

    # Settled pairs have a tab.
    begin_with_a_pair()
    window.press("1")
    expect(count).to_have_text("0")
    page.get_by_role("link", name="decided").click()
    expect(page.get_by_text("Resolved")).to_contain_text("kept “")
    assert window.violations() == []
