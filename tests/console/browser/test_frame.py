"""What all pages have: counts of what waits, ways to other pages, and errors in plain words, no form sent twice."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from apps.memories.models import Memory, MemoryLink
from apps.outbox.models import ModelPause, OutboxRow, WorkerHeartbeat
from apps.pipeline.core.enums import LinkKind, Status, WorkState
from apps.tenants.models import ApiKey, Project
from tests.console.browser.conftest import OpenPage, status_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_counts_follow_each_decision(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    window.open("review/")
    tab = window.page.locator("#reasons .number").first
    expect(tab).to_have_text(str(len(waiting)))
    expect(window.page).to_have_title(f"({len(waiting)}) Review · Test")
    for done, left in (("a", len(waiting) - 1), ("u", len(waiting))):
        window.press(done)
        expect(tab).to_have_text(str(left))
        expect(window.page).to_have_title(f"({left}) Review · Test")


def test_counts_are_read_again_unless_the_tab_is_hidden(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    window.page.clock.install()
    asked: list[str] = []
    window.page.on("request", lambda request: asked.append(request.url) if "/counts/" in request.url else None)
    window.open("dashboard/")
    Memory.objects.filter(pk=waiting[0].pk).update(status=Status.ACTIVE)
    window.page.clock.run_for(40_000)
    expect(window.page).to_have_title(f"({len(waiting) - 1}) Dashboard · Test")
    before = len(asked)
    window.page.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
    window.page.clock.run_for(120_000)
    assert len(asked) == before
    window.page.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
    window.settle()
    assert len(asked) == before + 1


def test_a_list_tells_of_new_rows_by_its_filters(open_window: OpenPage, waiting: list[Memory]) -> None:
    """The list stays as it is until somebody wants to see them."""
    window = open_window()
    window.page.clock.install()
    fresh = waiting[0]
    Memory.objects.filter(pk=fresh.pk).update(status=Status.ACTIVE)
    window.open(f"review/?type={fresh.type}")
    shown = window.page.locator("[data-row]").count()
    other = next(each for each in waiting if each.type != fresh.type)
    Memory.objects.filter(pk__in=[fresh.pk, other.pk]).update(
        status=Status.PENDING_REVIEW, created_at=timezone.now() + timedelta(hours=1)
    )
    window.page.clock.run_for(40_000)
    window.page.get_by_role("link", name="1 new: show").click()
    expect(window.page.locator("[data-row]")).to_have_count(shown + 1)
    expect(window.page).to_have_url(f"{window.address}/console/test/review/?type={fresh.type}")


def test_a_banner_tells_of_failed_work_and_goes_with_it(open_window: OpenPage, full_project: Project) -> None:
    rows = OutboxRow.objects.filter(project=full_project)
    rows.update(state=WorkState.DONE)
    rows.filter(pk=rows.earliest("id").pk).update(state=WorkState.DEAD)
    WorkerHeartbeat.objects.update(seen_at=timezone.now() + timedelta(days=1))
    ModelPause.objects.all().delete()
    window = open_window()
    window.page.clock.install()
    window.open("users/")
    banner = window.page.locator("#banner")
    expect(banner).to_contain_text("1 entry of the queue failed.")
    expect(window.page.locator("#count-queue")).to_have_text("1")
    window.assert_accessible("users/ with a banner")
    rows.update(state=WorkState.DONE)
    window.page.clock.run_for(40_000)
    expect(banner).to_be_hidden()
    expect(window.page.locator("#count-queue")).to_be_hidden()


def test_two_keys_open_a_page_and_decide_nothing(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window()
    window.open("review/")
    window.press("g", "z", "g", "t")
    expect(window.page.get_by_role("heading", name="Traces")).to_be_visible()
    window.press("g", "a")
    expect(window.page.get_by_role("heading", name="Alerts")).to_be_visible()
    assert {status_of(memory) for memory in waiting} == {Status.PENDING_REVIEW}


def test_settled_pairs_have_a_tab(open_window: OpenPage, full_project: Project) -> None:
    MemoryLink.objects.all().delete()
    one, other = Memory.objects.filter(project=full_project, status=Status.ACTIVE)[:2]
    pair = {"end_user": one.end_user, "project": full_project, "from_memory": one, "to_memory": other}
    MemoryLink.objects.create(**pair, kind=LinkKind.CONTRADICTS)
    window = open_window()
    window.open("contradictions/")
    expect(window.page.locator("#kinds .number").first).to_have_text("1")
    window.press("1")
    expect(window.page.locator("#kinds .number").first).to_have_text("0")
    window.page.get_by_role("link", name="settled").click()
    expect(window.page.get_by_text("Resolved")).to_contain_text("kept “")
    assert window.violations() == []


def test_error_pages_are_for_everyone(open_window: OpenPage, full_project: Project) -> None:
    window = open_window()
    window.page.goto(f"{window.address}/console/test/nothing/here/")
    window.assert_for_everyone("nothing/here/")
    window.page.get_by_role("link", name="To the console").click()
    expect(window.page.get_by_role("heading", name="Review")).to_be_visible()
    window.misdeeds.clear()  # the browser itself names the missing page


def test_reloading_after_a_new_key_makes_no_second_one(open_window: OpenPage, full_project: Project) -> None:
    before = ApiKey.objects.count()
    window = open_window()
    window.open("keys/")
    window.page.get_by_label("Name").fill("agent")
    window.page.get_by_role("button", name="Create").click()
    expect(window.page.locator(".key-text")).to_be_visible()
    window.page.reload()
    expect(window.page.get_by_text("This key was created before.")).to_be_visible()
    assert ApiKey.objects.count() == before + 1


def test_the_account_menu_names_who_is_signed_in(open_window: OpenPage, full_project: Project) -> None:
    window = open_window("ana")
    window.open("review/")
    menu = window.page.get_by_text("Signed in as ana")
    expect(menu).to_be_hidden()
    window.page.locator(".menu summary").click()
    expect(menu).to_be_visible()
    window.assert_accessible("review/ with the account menu")
    window.press("Escape")
    expect(menu).to_be_hidden()
    window.page.locator(".menu summary").click()
    window.page.get_by_role("heading", name="Review").click()
    expect(menu).to_be_hidden()
    window.page.locator(".menu summary").click()
    window.page.get_by_role("link", name="All projects").click()
    expect(window.page.get_by_role("heading", name="Projects")).to_be_visible()
    assert window.violations() == []
