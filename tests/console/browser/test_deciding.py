"""Reviewers at work: from the keyboard, with undo, and two of them at once."""

import pytest
from playwright.sync_api import Route, expect

from apps.memories.models import Entity, Memory, MemoryLink
from apps.pipeline.core.enums import LinkKind, Status
from apps.tenants.models import Project
from tests.console.browser.conftest import OpenPage, status_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_review_from_the_keyboard(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    page = window.page
    window.open("review/")
    rows = page.locator("[data-row]")
    expect(rows).to_have_count(len(waiting))
    expect(page.locator(".statement")).to_have_text(waiting[0].content)

    window.press("j")
    expect(page.locator(".statement")).to_have_text(waiting[1].content)
    window.press("k")
    expect(page.locator(".statement")).to_have_text(waiting[0].content)

    window.press("a")
    expect(rows).to_have_count(len(waiting) - 1)
    expect(page.locator("#count-review")).to_have_text(str(len(waiting) - 1))
    assert status_of(waiting[0]) == Status.ACTIVE
    window.press("u")
    expect(rows).to_have_count(len(waiting))
    assert status_of(waiting[0]) == Status.PENDING_REVIEW

    expect(page.locator(".statement")).to_have_text(waiting[0].content)
    window.press("r")
    expect(page.get_by_role("button", name="not true")).to_be_focused()
    window.press("5")
    expect(rows).to_have_count(len(waiting) - 1)
    assert status_of(waiting[0]) == Status.REJECTED


UNDO_AT_ONCE = """
new MutationObserver(() => document.querySelector("#toasts [data-undo]")?.click())
    .observe(document.getElementById("toasts"), {childList: true, subtree: true})
"""


def test_undo_works_from_the_moment_it_is_seen(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    window.open("review/")
    window.page.evaluate(UNDO_AT_ONCE)
    with window.page.expect_response("**/undo/"):
        window.press("a")
    expect(window.page.locator("[data-row]")).to_have_count(len(waiting))
    assert status_of(waiting[0]) == Status.PENDING_REVIEW


def test_keys_typed_ahead_of_the_answers_meet_what_they_were_meant_for(
    open_window: OpenPage, waiting: list[Memory]
) -> None:
    window = open_window()
    window.open("review/")
    window.press("j", "a", "k", "r", "1")
    expect(window.page.locator("[data-row]")).to_have_count(len(waiting) - 2)
    assert [status_of(memory) for memory in waiting[:3]] == [Status.REJECTED, Status.ACTIVE, Status.PENDING_REVIEW]
    window.press("u", "a", "e", "a")
    expect(window.page.get_by_label("Reworded")).to_be_focused()
    expect(window.page.locator("[data-row]")).to_have_count(len(waiting) - 2)


def test_a_late_answer_does_not_show_what_was_left(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    late: list[Route] = []
    # Before the page is there: a request that meets interception half switched on is made, but never told of.
    window.page.route(f"**/memories/{waiting[1].pk}/", lambda route: late.append(route))
    window.open("review/")
    with window.page.expect_request(f"**/memories/{waiting[1].pk}/"):  # typed at once, it would not even be asked
        window.press("j")
    window.press("j")
    expect(window.page.locator(".statement")).to_have_text(waiting[2].content)
    late[0].continue_()
    window.settle()
    expect(window.page.locator(".statement")).to_have_text(waiting[2].content)


def test_edit_and_approve(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    window.open("review/")
    window.press("e")
    field = window.page.get_by_label("Reworded")
    expect(field).to_be_focused()
    field.fill("Rui is fond of rain.")
    window.press("Control+Enter")
    expect(window.page.locator("[data-row]")).to_have_count(len(waiting) - 1)
    memory = Memory.objects.get(pk=waiting[0].pk)
    assert (memory.content, memory.status) == ("Rui is fond of rain.", Status.ACTIVE)


def test_many_at_once_until_the_queue_is_empty(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    window.open("review/")
    for _ in waiting:
        window.press("x", "j")
    window.page.get_by_role("button", name="Approve all").click()
    expect(window.page.get_by_text("All caught up")).to_be_visible()
    assert {status_of(memory) for memory in waiting} == {Status.ACTIVE}
    window.press("u")
    expect(window.page.locator("[data-row]")).to_have_count(len(waiting))


def test_the_second_of_two_reviewers_sees_who_decided_before(open_window: OpenPage, waiting: list[Memory]) -> None:
    first, second = open_window("ana"), open_window("ben")
    first.open("review/")
    second.open("review/")
    first.press("a")
    expect(first.page.locator("[data-row]")).to_have_count(len(waiting) - 1)
    second.press("r")
    expect(second.page.get_by_role("button", name="not true")).to_be_focused()
    second.press("1")
    expect(second.page.get_by_role("alert")).to_contain_text("ana already approved it")
    expect(second.page.locator("[data-row]")).to_have_count(len(waiting) - 1)
    assert status_of(waiting[0]) == Status.ACTIVE


def test_help_opens_and_closes(open_window: OpenPage, full_project: Project) -> None:
    window = open_window()
    window.open("review/")
    window.press("?")
    expect(window.page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    window.press("Escape")
    expect(window.page.get_by_role("dialog", name="Keyboard")).to_be_hidden()


def test_contradictions_from_the_keyboard(open_window: OpenPage, full_project: Project) -> None:
    MemoryLink.objects.all().delete()
    one, other = Memory.objects.filter(project=full_project, status=Status.ACTIVE).order_by("said_at")[:2]
    MemoryLink.objects.create(
        end_user=one.end_user, project=full_project, from_memory=one, to_memory=other, kind=LinkKind.CONTRADICTS
    )
    window = open_window()
    window.open("contradictions/")
    window.press("1")
    expect(window.page.get_by_text("No contradictions")).to_be_visible()
    assert (status_of(one), status_of(other)) == (Status.ACTIVE, Status.REJECTED)
    window.press("u")
    expect(window.page.locator("[data-row]")).to_have_count(1)
    assert status_of(other) == Status.ACTIVE

    window.press("b")
    until = window.page.get_by_role("group", name="B is valid").get_by_label("until")
    until.fill("2099-12-31")
    window.page.get_by_role("button", name="Keep both").click()
    expect(window.page.get_by_text("No contradictions")).to_be_visible()
    assert str(Memory.objects.get(pk=other.pk).valid_until).startswith("2099-12-31")


def test_entities_are_merged_and_taken_apart_by_the_keys(open_window: OpenPage, full_project: Project) -> None:
    marta, porto = Entity.objects.get(name="Marta"), Entity.objects.get(name="Porto")
    window = open_window()
    page = window.page
    window.open("entities/?q=Marta")
    window.press("j", "Enter")
    expect(page.get_by_role("heading", name="Marta", exact=True)).to_be_visible()
    window.press("m")
    expect(page.get_by_role("heading", name="Merge Marta into…")).to_be_visible()
    window.press("/")
    page.keyboard.type("Porto")
    page.keyboard.press("Enter")
    page.wait_for_url("**/merge/?q=Porto")
    window.press("j", "Enter")
    expect(page.get_by_text("sister, lives in Porto.").first).to_be_visible()
    window.press("m")
    expect(page.get_by_text("Merged into this entity.")).to_be_visible()
    assert Entity.objects.get(pk=marta.pk).merged_into == porto
    window.press("u")
    expect(page.get_by_text("The merge was undone: these are two entities again.")).to_be_visible()
    assert Entity.objects.get(pk=marta.pk).merged_into is None
