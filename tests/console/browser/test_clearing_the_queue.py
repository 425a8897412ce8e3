"""A reviewer clears the queue over a slow network on which requests fail, and decides about nothing unseen.

An ordinary run takes a few items and little latency, `make soak` 100 items with 2.5 s for every response.
"""

from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Route, expect

from apps.console import paging as paging
from apps.memories.models import Memory
from apps.pipeline.core.enums import Status
from apps.tenants.models import Project
from tests.console.browser.conftest import OpenPage, Window, status_of
from tests.console.pending import queue_of
from tests.soak import is_soak

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ITEMS = 100 if is_soak() else 9
LATENCY = 2_500 if is_soak() else 60  # milliseconds
FAILS = 40 if is_soak() else 5  # of so many requests, one is answered with 503
MOST_KEYS = 110 if is_soak() else 14
SHOWS_A_CASE = """
() => document.body.textContent.includes("All caught up") || (
    document.querySelector(".detail:not([inert]) [data-case]") && !document.querySelector("[data-retrying]")
    && !document.querySelector(".htmx-request:not([data-background])"))
"""


@dataclass
class Person:
    """A reviewer who decides about what is on the screen, and again if the page says that it failed."""

    window: Window
    has_mouse: bool
    said: dict[str, str] = field(default_factory=dict)  # what was decided last, by statement
    keys: int = 0

    def clear_the_queue(self) -> None:
        page = self.window.page
        while True:
            page.wait_for_function(SHOWS_A_CASE)
            if page.get_by_text("All caught up").is_visible():
                return
            self._decide(page.locator("#detail .statement").inner_text())

    def _decide(self, statement: str) -> None:
        rejects = int(statement.split()[-1]) % 20 == 7
        self.said[statement] = Status.REJECTED if rejects else Status.ACTIVE
        for key in ("r", "1") if rejects else ("a",):
            if self.has_mouse:
                self.window.page.locator(f"#detail .decide [data-key='{key}']:visible").click()
            else:
                self.window.press(key)
                self.keys += 1


def slow_and_unreliable(window: Window) -> None:
    """Let every response take its time, and some requests fail before they reach the server."""
    session = window.page.context.new_cdp_session(window.page)
    session.send("Network.enable")
    conditions = {"offline": False, "latency": LATENCY, "downloadThroughput": -1, "uploadThroughput": -1}
    session.send("Network.emulateNetworkConditions", conditions)
    requests = 0

    def answer(route: Route) -> None:
        nonlocal requests
        requests += 1
        route.fulfill(status=503) if requests % FAILS == 0 else route.continue_()

    for path in ("**/review/approve/", "**/review/reject/", "**/memories/*/*", "**/memories/*/"):
        window.page.route(path, answer)


WINDOWS = [(1280, False), (390, True)]
if is_soak():
    WINDOWS += [(820, False), (390, False), (820, True), (1280, True)]


@pytest.mark.parametrize(("width", "has_mouse"), WINDOWS)
def test_a_queue_is_cleared_over_a_bad_network(
    open_window: OpenPage, project: Project, monkeypatch: pytest.MonkeyPatch, width: int, has_mouse: bool
) -> None:
    monkeypatch.setattr(paging.paginate, "__kwdefaults__", {"size": ITEMS // 3})
    queue = queue_of(project, ITEMS)
    window = open_window(width=width, height=844)
    slow_and_unreliable(window)
    person = Person(window, has_mouse)
    window.open("review/")
    if width == 390:  # the list comes first
        window.page.locator("[data-row]").first.click() if has_mouse else window.press("j")
        expect(window.page.locator("#detail .statement")).to_be_visible()
    person.clear_the_queue()
    assert {each.content: status_of(each) for each in queue} == person.said
    assert person.keys <= MOST_KEYS
    assert not Memory.objects.awaiting_review().exists()
    window.misdeeds.clear()  # the browser itself names the failed requests
