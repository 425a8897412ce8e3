"""A sample is drawn, labelled by keys and told as figures; a missed turn is remembered and told to the agent."""

import pytest
from playwright.sync_api import expect
from rest_framework.test import APIClient

from apps.memories.models import EvaluationLabel
from apps.tenants.models import Project
from tests.console.browser.conftest import OpenPage
from tests.tuning.evaluation.evaluated import told

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MISSED = "The weather is odd today."
REMEMBERED = "User finds the weather odd."


def values() -> list[str]:
    return list(EvaluationLabel.objects.order_by("id").values_list("value", flat=True))


def test_from_a_draw_to_what_the_agent_is_told(open_window: OpenPage, project: Project, client: APIClient) -> None:
    told(project)
    window = open_window()
    page = window.page
    window.open("evaluation/")
    window.press("d")
    expect(page.get_by_text("5 left for you")).to_be_visible()
    window.press("y")
    expect(page.get_by_text("4 left for you")).to_be_visible()
    window.press("2")
    expect(page.get_by_text("3 left for you")).to_be_visible()
    window.press("u")
    expect(page.get_by_text("4 left for you")).to_be_visible()
    assert values() == ["good"]
    window.press("y", "3")
    expect(page.get_by_text("Does it contain anything worth remembering?")).to_be_visible()
    assert values() == ["good", "good", "useless"]

    is_first = page.locator(".statement").inner_text() == MISSED
    if not is_first:
        window.press("n")
    expect(page.locator(".statement")).to_have_text(MISSED)
    window.press("r")
    field = page.get_by_label("What agents should know")
    expect(field).to_be_focused()
    field.fill(REMEMBERED)
    window.press("Control+Enter")
    if is_first:
        expect(page.get_by_text("1 left for you")).to_be_visible()
        window.press("n")
    expect(page.get_by_text("All labelled")).to_be_visible()
    window.settle()
    answer = client.post("/v1/context", {"user_id": "ana", "query": "What about the weather?", "token_budget": 400})
    assert "Finds the weather odd." in answer.json()["context"]

    page.get_by_role("link", name="See the figures").click()
    expect(page.get_by_text("2 of 3 memories are good")).to_be_visible()
    expect(page.get_by_text("about 2 turns found, 1 missed")).to_be_visible()
