"""A rule is tightened, replayed, read and activated in the browser; then the agent's next turn is dropped."""

import pytest
from playwright.sync_api import expect
from rest_framework.test import APIClient

from apps.actions.keys.create_key import create_key
from apps.pipeline.core.enums import Scope
from apps.tenants.models import Project
from apps.traces.models import Replay
from tests.conftest import calling_with
from tests.console.browser.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def agent_of(project: Project) -> APIClient:
    return calling_with(create_key(project_id=project.pk, name="agent", scopes=[Scope.WRITE, Scope.READ]).text)


def post(agent: APIClient, text: str) -> int:
    """Post a turn and return how many turns the pre-filter rejected."""
    turns = [{"role": "user", "content": text}]
    answer = agent.post("/v1/turns", {"user_id": "kim", "session_id": "s", "mode": "sync", "turns": turns})
    return sum(answer.json()["rejected"].values())


def test_a_rule_is_replayed_before_it_meets_an_agent(open_window: OpenPage, full_project: Project) -> None:
    Replay.objects.all().delete()
    agent, window = agent_of(full_project), open_window()
    assert post(agent, "I moved to Porto.") == 0
    window.open("patterns/new/")
    window.page.locator("#id_name").fill("porto")
    window.page.locator("#id_pattern").fill("porto")
    window.page.get_by_role("button", name="Save as draft").click()
    window.page.get_by_role("link", name="Replay p").click()
    window.page.get_by_role("button", name="Estimate").click()
    window.page.get_by_role("button", name="Start").click()
    expect(window.page.get_by_text("newly dropped: pattern:porto").first).to_be_visible()
    expect(window.page.locator("[data-replay-done]")).to_contain_text("Turns newly dropped")
    assert post(agent, "My office is in Porto.") == 0

    window.page.get_by_role("button", name="Activate version 2").click()
    expect(window.page.get_by_text("Version 2 is active.")).to_be_visible()
    window.settle()
    assert post(agent, "My favourite bridge is in Porto.") == 1


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_pages_of_replays_are_for_everyone(
    open_window: OpenPage, full_project: Project, width: int, height: int
) -> None:
    window = open_window(width=width, height=height)
    replay = Replay.objects.filter(project=full_project).latest("created_at")
    Replay.objects.filter(pk=replay.pk).update(traces_done=1, totals={"different": 1, "memories_added": 1})
    for path in ("replays/", "replays/new/", f"replays/{replay.pk}/", "replays/what-if/", "configuration/1/"):
        window.open(path)
        window.assert_accessible(path)
