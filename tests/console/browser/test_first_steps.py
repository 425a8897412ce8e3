"""The first steps in a browser: the first trace appears by itself, and a hidden tab asks nothing."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect
from rest_framework.test import APIClient

from tests.console.browser.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def hide(page: Page, *, is_hidden: bool) -> None:
    """Let the page believe that its tab is hidden or shown."""
    page.evaluate(
        "hidden => { Object.defineProperty(document, 'hidden', {get: () => hidden, configurable: true});"
        " document.dispatchEvent(new Event('visibilitychange')); }",
        is_hidden,
    )


def test_the_first_trace_appears_unless_the_tab_is_hidden(
    open_window: OpenPage, client: APIClient, conversation: dict[str, Any]
) -> None:
    window = open_window(has_clock=True)
    window.open("")
    expect(window.page.get_by_role("heading", name="First steps")).to_be_visible()
    expect(window.page.get_by_text("There is a key with the scope write.")).to_be_visible()
    window.assert_for_everyone("first-steps/")

    with window.page.expect_response(lambda answer: "has_key=1" in answer.url) as answered:
        window.page.clock.run_for(4_000)
    assert answered.value.status == 204

    hide(window.page, is_hidden=True)
    assert client.post("/v1/turns", conversation).status_code == 202
    asked: list[str] = []
    window.page.on("request", lambda request: asked.append(request.url))
    window.page.clock.run_for(20_000)
    expect(window.page.get_by_text("Waiting for it.")).to_be_visible()
    assert asked == []

    hide(window.page, is_hidden=False)
    window.page.get_by_role("link", name="see what each stage did").click()
    expect(window.page.get_by_role("heading", level=1)).to_be_visible()
    assert "/traces/" in window.page.url
