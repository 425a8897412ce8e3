"""What all pages have: counts of what waits, ways to other pages, and errors in plain words."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from apps.memories.models import Memory
from apps.outbox.models import ModelPause, OutboxRow, WorkerHeartbeat
from apps.pipeline.core.enums import Status, WorkState
from apps.tenants.models import Project
from tests.console.browser.conftest import OpenPage, status_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_an_open_page_tells_what_is_new_unless_the_tab_is_hidden(
    open_window: OpenPage, full_project: Project, waiting: list[Memory]
) -> None:
    window = open_window(has_clock=True)
    page = window.page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/counts/" in request.url else None)

    # Counts are read again, and not in a hidden tab.
    window.open("dashboard/")
    fresh = waiting[0]
    Memory.objects.filter(pk=fresh.pk).update(status=Status.ACTIVE)
    page.clock.run_for(40_000)
    expect(page).to_have_title(f"({len(waiting) - 1}) Numbers · Test")
    before = len(asked)
    page.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
    page.clock.run_for(120_000)
    assert len(asked) == before
    page.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
    window.settle()
    assert len(asked) == before + 1

    # A list tells of new rows by its filters, and stays as it is until somebody wants to see them.
    window.open(f"review/?type={fresh.type}")
    shown = page.locator("[data-row]").count()
    other = next(each for each in waiting if each.type != fresh.type)
    Memory.objects.filter(pk__in=[fresh.pk, other.pk]).update(
        status=Status.PENDING_REVIEW, created_at=timezone.now() + timedelta(hours=1)
    )
    page.clock.run_for(40_000)
    page.get_by_role("link", name="1 new: show").click()
    expect(page.locator("[data-row]")).to_have_count(shown + 1)
    expect(page).to_have_url(f"{window.address}/console/test/review/?type={fresh.type}")

    # A banner tells of failed work and goes with it.
    rows = OutboxRow.objects.filter(project=full_project)
    rows.update(state=WorkState.DONE)
    rows.filter(pk=rows.earliest("id").pk).update(state=WorkState.DEAD)
    WorkerHeartbeat.objects.update(seen_at=timezone.now() + timedelta(days=1))
    ModelPause.objects.all().delete()
    window.settle()
    window.open("users/")
    banner = page.locator("#banner")
    expect(banner).to_contain_text("1 piece of work failed for good.")
    expect(page.locator("#count-alerts")).to_have_text("1")
    window.assert_accessible("users/ with a banner")
    rows.update(state=WorkState.DONE)
    page.clock.run_for(40_000)
    expect(banner).to_be_hidden()
    expect(page.locator("#count-alerts")).to_be_hidden()


def test_ways_to_other_pages(open_window: OpenPage, waiting: list[Memory]) -> None:
    window = open_window("ana")
    page = window.page

    # The account menu names who is signed in, and closes with Escape and by a click elsewhere.
    window.open("review/")
    menu = page.get_by_text("Signed in as ana")
    expect(menu).to_be_hidden()
    page.locator(".menu summary").click()
    expect(menu).to_be_visible()
    window.assert_accessible("review/ with the account menu")
    window.press("Escape")
    expect(menu).to_be_hidden()
    page.locator(".menu summary").click()
    page.get_by_role("heading", name="Is it true?").click()
    expect(menu).to_be_hidden()

    # Two keys open a page and decide nothing.
    window.press("g", "z", "g", "t")
    expect(page.get_by_role("heading", name="Messages")).to_be_visible()
    window.press("g", "a")
    expect(page.get_by_role("heading", name="What is wrong")).to_be_visible()
    assert {status_of(memory) for memory in waiting} == {Status.PENDING_REVIEW}

    # The menu leads to all projects.
    page.locator(".menu summary").click()
    page.get_by_role("link", name="All projects").click()
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()
    assert window.violations() == []

    # An error page is for everyone and leads to the console.
    assert window.misdeeds == []
    page.goto(f"{window.address}/console/test/nothing/here/")
    window.assert_for_everyone("nothing/here/")
    page.get_by_role("link", name="To the console").click()
    expect(page.get_by_role("heading", name="Is it true?")).to_be_visible()
    window.misdeeds.clear()  # the browser itself names the missing page
