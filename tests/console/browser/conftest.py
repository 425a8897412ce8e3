"""Shared by the browser tests: a Chromium, signed-in members, and checks of every page."""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    ViewportSize,
    expect,
    sync_playwright,
)
from pytest_django.live_server_helper import LiveServer

from apps.memories.models import Memory
from apps.pipeline.core.enums import Status
from apps.tenants.enums import MemberRole
from apps.tenants.models import Membership, Project
from tests.soak import is_soak

AXE = Path(__file__).parents[2] / "assets" / "axe-4.14.1.min.js"
COLOUR_RULES = ("color-contrast", "link-in-text-block")
RULES_BY_SCHEME: dict[Literal["light", "dark"], Sequence[str] | None] = {"light": None, "dark": COLOUR_RULES}
WIDE, NARROW = ViewportSize(width=1280, height=800), ViewportSize(width=390, height=844)
PATIENCE = 60_000  # milliseconds for anything, on a busy machine
OpenPage = Callable[..., "Window"]
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")  # the first takes half the processor time


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Repeat a failed browser test once and report it in the summary: the browser itself has races."""
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    if chromium is None:
        pytest.skip("no Chromium here; Debian has it as the package chromium-headless-shell")
    # Playwright runs an event loop in this thread, which Django takes for a sign of asynchronous code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE)
        browser = playwright.chromium.launch(
            # Containers have little /dev/shm, and a page that doesn't fit into it crashes.
            executable_path=chromium,
            args=["--no-sandbox", "--disable-dev-shm-usage"],
            timeout=PATIENCE,
        )
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@dataclass
class Window:
    """A page of the console in a browser, and all that it did which no page may do."""

    page: Page
    address: str
    misdeeds: list[str] = field(default_factory=list)

    def open(self, path: str) -> None:
        """Open a page of the project; scripts are there when it returns."""
        answer = self.page.goto(f"{self.address}/console/test/{path}")
        assert answer is not None
        assert answer.status == 200, path

    def press(self, *keys: str) -> None:
        """Press keys, once the page that is shown has its scripts: it may be seen before that."""
        self.page.wait_for_load_state("load")
        for key in keys:
            self.page.keyboard.press(key)

    def settle(self) -> None:
        """Wait until nothing is under way, so that no request meets a database that is being emptied."""
        self.page.wait_for_load_state("load")
        expect(self.page.locator(".htmx-request")).to_have_count(0)

    def watch(self) -> None:
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.misdeeds.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: (self.misdeeds.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("request", self._on_request)

    def _on_console(self, message: ConsoleMessage) -> None:
        # The browser itself says so of every refused request; the pages tell it in their own words.
        if message.type == "error" and "the server responded with a status of 409" not in message.text:
            self.misdeeds.append(f"console: {message.text}")

    def _on_request(self, request: Request) -> None:
        if urlsplit(request.url).netloc != urlsplit(self.address).netloc and not request.url.startswith("data:"):
            self.misdeeds.append(f"request: {request.url}")

    def assert_accessible(self, path: str) -> None:
        """Check that the page fits the window and keeps nobody from using it, in light and dark.

        Only colours differ in the dark, so only the rules about colours are checked twice.
        """
        assert not self.is_too_wide(), path
        for scheme, rules in RULES_BY_SCHEME.items():
            self.page.emulate_media(color_scheme=scheme)
            assert self.violations(rules) == [], f"{path} in {scheme}"

    def assert_for_everyone(self, path: str) -> None:
        """Check the page in a wide window, in light and dark, then in the narrow window of a phone.

        The page is loaded once: styles follow the window. An ordinary run checks that the narrow page fits its window;
        what axe-core finds there, and not in the wide window, is left to `make soak`.
        """
        self.assert_accessible(path)
        self.page.set_viewport_size(NARROW)
        assert not self.is_too_wide(), f"{path} in a narrow window"
        if is_soak():
            self.page.emulate_media(color_scheme="light")
            assert self.violations() == [], f"{path} in a narrow window"
        self.page.set_viewport_size(WIDE)

    def violations(self, rules: Sequence[str] | None = None) -> list[str]:
        """Return what keeps some people from using the page, as axe-core finds it, by all rules or some."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text())
        # A violation is told by its HTML, and no rule that is enabled needs the files of the page loaded again.
        usual = {"resultTypes": ["violations"], "selectors": False, "preload": False}
        options = usual | ({"runOnly": list(rules)} if rules else {})
        found = self.page.evaluate("options => axe.run(document, options)", options)["violations"]
        serious = [each for each in found if each["impact"] in ("serious", "critical")]
        return [f"{each['id']}: {node['html'][:200]}" for each in serious for node in each["nodes"]]

    def is_too_wide(self) -> bool:
        return bool(self.page.evaluate("document.documentElement.scrollWidth > innerWidth"))


@pytest.fixture(scope="session")
def spare(browser: Browser) -> list[BrowserContext]:
    """Contexts that no window uses: a new one takes long, and has to load and compile what all pages share."""
    return []


@pytest.fixture
def open_window(
    browser: Browser, spare: list[BrowserContext], live_server: LiveServer, project: Project
) -> Iterator[OpenPage]:
    """Open windows, each of a person with a role; at the end, none may have misbehaved.

    A window that has a clock has one of its own, which the test turns.
    """
    windows: list[Window] = []
    kept: list[BrowserContext] = []

    def open_(
        name: str = "ana",
        role: MemberRole = MemberRole.ADMIN,
        *,
        width: int = 1280,
        height: int = 800,
        has_clock: bool = False,
    ) -> Window:
        context = spare.pop() if spare and not has_clock else browser.new_context(reduced_motion="reduce")
        context.set_default_timeout(PATIENCE)
        context.add_cookies([{"name": "sessionid", "value": _session(name, role, project), "url": live_server.url}])
        if has_clock:
            context.clock.install()
        else:
            kept.append(context)
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        window = Window(page, live_server.url)
        window.watch()
        windows.append(window)
        return window

    yield open_
    for window in windows:
        window.settle()
    misdeeds = [misdeed for window in windows for misdeed in window.misdeeds]
    for window in windows:
        if window.page.context in kept:
            _forget(window.page)
        else:
            window.page.context.close()
    spare.extend(kept)  # not in a test that failed before: its windows may still be at work
    assert misdeeds == []


def _forget(page: Page) -> None:
    """Close a window and remove what the pages have stored in its context: they only have cookies."""
    context = page.context
    for each in context.pages:
        each.close()
    context.clear_cookies()


def _session(name: str, role: MemberRole, project: Project) -> str:
    user, _ = User.objects.get_or_create(username=name)
    Membership.objects.get_or_create(user=user, project=project, defaults={"role": role})
    client = Client()
    client.force_login(user)
    return str(client.cookies[settings.SESSION_COOKIE_NAME].value)


@pytest.fixture
def waiting(full_project: Project) -> list[Memory]:
    """Three memories that wait, in the order in which they are shown."""
    kept = Memory.objects.filter(project=full_project, status=Status.ACTIVE).order_by("-importance", "created_at", "id")
    for memory in kept:
        memory.status, memory.review_reasons = Status.PENDING_REVIEW, ["low_confidence"]
        memory.save(update_fields=["status", "review_reasons"])
    return list(kept.model.objects.awaiting_review().order_by("-importance", "created_at", "id"))


def status_of(memory: Memory) -> str:
    return Memory.objects.get(pk=memory.pk).status


def begin(window: Window, waiting: list[Memory]) -> None:
    """Let all of them wait again and open the queue: the next part of a journey begins like the first."""
    window.settle()
    Memory.objects.filter(pk__in=[memory.pk for memory in waiting]).update(status=Status.PENDING_REVIEW)
    window.open("review/")
