"""A sample is drawn, labelled by keys and told as figures; a missed turn is remembered and told to the agent."""

import pytest
from playwright.sync_api import expect

from apps.memories.models import EvaluationLabel, EvaluationSample
from apps.tenants.models import Project
from apps.traces.models import ConfigurationVersion, Replay
from tests.console.browser.conftest import OpenPage
from tests.console.browser.test_replays import agent_of
from tests.tuning.evaluation.evaluated import drawn, told

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MISSED = "The weather is odd today."
REMEMBERED = "User finds the weather odd."


def values() -> list[str]:
    return list(EvaluationLabel.objects.order_by("id").values_list("value", flat=True))


def test_from_a_draw_to_what_the_agent_is_told(open_window: OpenPage, project: Project) -> None:
    told(project)
    agent, window = agent_of(project), open_window()
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
    answer = agent.post("/v1/context", {"user_id": "ana", "query": "What about the weather?", "token_budget": 400})
    assert "Finds the weather odd." in answer.json()["context"]

    page.get_by_role("link", name="See the figures").click()
    expect(page.get_by_text("2 of 3 memories are good")).to_be_visible()
    expect(page.get_by_text("about 2 turns found, 1 missed")).to_be_visible()


def test_pages_of_evaluation_are_for_everyone(open_window: OpenPage, project: Project) -> None:
    window = open_window()
    window.open("evaluation/")
    window.assert_for_everyone("evaluation/ without a sample")
    person = told(project)
    for sample in drawn(project).values():
        item = sample.items.order_by("-position")[0]
        value = "good" if item.memory_id else "something"
        for labeller in ("person:1000008", "person:1000009"):
            EvaluationLabel.objects.create(end_user_id=person.id, item=item, labeller=labeller, value=value)
    assert EvaluationSample.objects.count() == 2
    replay = Replay.objects.create(project=project, configuration=ConfigurationVersion.objects.get(), state="running")
    for path in (
        f"evaluation/comparison/?replay={replay.pk}",
        "evaluation/",
        "evaluation/label/?kind=memory",
        "evaluation/label/?kind=turn",
    ):
        window.open(path)
        window.assert_for_everyone(path)
