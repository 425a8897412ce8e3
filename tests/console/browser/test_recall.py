"""The recall page in a browser: a query is explained and compared; the page is accessible wide and narrow."""

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from apps.tenants.enums import MemberRole
from apps.tenants.models import EndUser, Project
from tests.console.browser.conftest import OpenPage
from tests.console.browser.hands import WINDOWS, Hands

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_query_is_explained_and_compared_for_everyone(open_window: OpenPage, full_project: Project) -> None:
    user = EndUser.objects.get(project=full_project).external_id
    window = open_window(role=MemberRole.VIEWER)
    window.open("recall/")
    window.assert_for_everyone("recall/")
    window.page.get_by_label("User", exact=False).first.fill(user)
    window.page.get_by_role("searchbox", name="Query").fill("Who likes green tea?")
    window.page.get_by_label("Results").fill("1")
    window.page.get_by_label("Tokens").fill("50")
    window.page.get_by_role("button", name="Show").click()

    rows = window.page.locator("[data-memory]")
    expect(rows.first).to_contain_text("green tea")
    expect(rows.first.get_by_role("cell").first).to_have_text("1")
    expect(rows.first).to_contain_text("words")
    expect(rows.nth(1)).to_contain_text("No result: others are better.")
    expect(window.page.locator("[data-omitted] li").first).to_be_visible()
    expect(window.page.locator("[data-unscored]").first).to_contain_text("Not scored:")

    compared = f"recall/?user={quote(user)}&q=green+tea&limit=1&budget=60&against=1"
    window.open(compared)
    window.assert_for_everyone(compared)


@pytest.mark.parametrize(("width", "has_mouse"), WINDOWS)
def test_what_is_known_of_a_user_and_why_takes_three_clicks(
    open_window: OpenPage, full_project: Project, width: int, has_mouse: bool
) -> None:
    """Users, the user, the memory: its quote in the conversation is on the screen. A narrow window has the palette."""
    window = open_window(role=MemberRole.VIEWER, width=width, height=844)
    hands, page = Hands(window, has_mouse), window.page
    window.open("review/")
    if width == 1280:
        hands.click(page.get_by_role("link", name="Ask", exact=True))
        hands.click(page.get_by_role("table").get_by_role("link").first)
    else:
        hands.click(page.get_by_role("button", name="Go to anything"))
        page.keyboard.type("rui")
        user = page.get_by_role("group", name="Users").get_by_role("option").first
        expect(user).to_have_attribute("aria-selected", "true")
        hands.click(user) if has_mouse else window.press("Enter")
    line = page.locator(".told-line", has_text="green tea").first
    expect(line.locator("q")).to_contain_text("I like green tea")
    hands.click(line.get_by_role("link").first)
    expect(page.locator(".turn-quoted mark")).to_contain_text("green tea")
    assert hands.clicks <= 3
