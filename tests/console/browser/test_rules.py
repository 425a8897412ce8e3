"""From a dropped turn to its rule: the harm of a change is shown before it is saved, and it can be undone."""

import pytest
from playwright.sync_api import expect

from apps.tenants.models import Project
from apps.traces.models import PreFilterRule
from tests.console.browser.conftest import OpenPage
from tests.console.browser.hands import WINDOWS, Hands

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize(("width", "has_mouse"), WINDOWS)
def test_from_a_dropped_turn_to_its_rule_the_harm_and_back(
    open_window: OpenPage, full_project: Project, width: int, has_mouse: bool
) -> None:
    """Why a turn was dropped leads to the rule; what the changed rule would cost is shown before it is saved."""
    window = open_window(width=width, height=844)
    page, hands = window.page, Hands(window, has_mouse)
    window.open("ask/?q=thanks")
    hands.click(page.get_by_role("link", name="Show the rule"))
    hands.click(page.get_by_role("table").get_by_role("link", name="thanks_en"))
    hands.write(page.get_by_role("textbox", name="Pattern"), "thanks|porto")
    hands.tick(page.get_by_role("checkbox", name="phrase"))
    hands.click(page.get_by_role("button", name="Save", exact=False).first)
    harm = page.get_by_role("alert")
    expect(harm).to_contain_text("1 of these became active memories")
    expect(harm.get_by_role("link", name="My sister Marta lives in Porto.", exact=True)).to_be_visible()
    window.assert_accessible("the harm of a rule")
    hands.write(page.get_by_label("To save it anyway"), "thanks_en")
    if has_mouse:
        hands.click(page.get_by_role("button", name="Save", exact=False).first)
    else:
        window.press("Enter")
    expect(page.get_by_text("Rule thanks_en saved: version 2 is active.")).to_be_visible()
    hands.click(page.get_by_role("button", name="Undo"))
    expect(page.get_by_text("Version 1 was restored as version 3.")).to_be_visible()
    assert "porto" not in PreFilterRule.objects.get(project=full_project, name="thanks_en").pattern
