"""A rule is tightened, replayed, activated and regretted in the browser; each time the agent is told accordingly."""

import pytest
from playwright.sync_api import expect
from rest_framework.test import APIClient

from apps.pipeline.core.enums import Scope
from apps.projects.api_keys import create_key
from apps.tenants.models import Project
from apps.traces.models import Replay
from tests.conftest import calling_with
from tests.console.browser.conftest import OpenPage
from tests.worker.worker_helper import Person

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def agent_of(project: Project) -> APIClient:
    return calling_with(create_key(project_id=project.pk, name="agent", scopes=[Scope.WRITE, Scope.READ]).text)


def post(agent: APIClient, text: str) -> int:
    """Post a turn and return how many turns the pre-filter rejected."""
    turns = [{"role": "user", "content": text}]
    answer = agent.post("/v1/turns", {"user_id": "kim", "session_id": "s", "mode": "sync", "turns": turns})
    return sum(answer.json()["rejected"].values())


def context_of(agent: APIClient) -> str:
    """Return what the agent is told about the user."""
    return str(agent.post("/v1/context", {"user_id": "kim", "query": "kim"}).json()["context"])


def works_for(project: Project) -> None:
    """Do the work that is due, as a worker does."""
    Person(project, "kim").is_worked_for()


def test_a_rule_is_regretted_and_the_agent_is_told_what_it_was(open_window: OpenPage, full_project: Project) -> None:
    agent, window = agent_of(full_project), open_window()
    post(agent, "My sister Lena works as a nurse.")
    post(agent, "I moved to Porto.")
    before = context_of(agent)
    assert "Porto" in before

    window.open("patterns/new/")
    window.page.locator("#id_name").fill("porto")
    window.page.locator("#id_pattern").fill("porto")
    window.page.get_by_role("button", name="Save as draft").click()
    window.page.get_by_role("link", name="Replay p").click()
    window.page.locator("#id_user").fill("kim")
    window.page.get_by_role("button", name="Estimate").click()
    window.page.get_by_role("button", name="Start").click()
    expect(window.page.locator("[data-replay-done]")).to_contain_text("Memories no longer")
    replay = window.page.url
    window.page.get_by_role("button", name="Activate version 2").click()
    expect(window.page.get_by_text("Version 2 is active.")).to_be_visible()
    assert context_of(agent) == before  # what is stored stays

    window.page.goto(replay)
    window.page.get_by_role("link", name="Run these traces again under version 2").click()
    expect(window.page.get_by_text("User lives in Porto.").first).to_be_visible()
    window.page.get_by_role("button", name="Roll back").click()
    expect(window.page.get_by_text("Memories retracted")).to_be_visible()
    window.settle()
    works_for(full_project)
    assert "Porto" not in context_of(agent)
    assert "nurse" in context_of(agent)

    window.open("configuration/1/")
    window.page.get_by_role("button", name="Restore").click()
    window.settle()
    window.page.goto(replay)
    window.open("rollbacks/")
    window.page.locator("[name=user]").fill("kim")
    window.page.get_by_role("button", name="Preview").click()
    window.page.get_by_label("Run the traces again under the active configuration").check()
    window.page.get_by_role("button", name="Roll back").click()
    expect(window.page.get_by_text("Memories retracted")).to_be_visible()
    window.settle()
    works_for(full_project)
    assert context_of(agent) == before


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


def test_pages_of_replays_are_for_everyone(open_window: OpenPage, full_project: Project) -> None:
    window = open_window()
    replay = Replay.objects.filter(project=full_project).latest("created_at")
    Replay.objects.filter(pk=replay.pk).update(traces_done=1, totals={"different": 1, "memories_added": 1})
    for path in ("replays/", "replays/new/", f"replays/{replay.pk}/", "replays/what-if/", "configuration/1/"):
        window.open(path)
        window.assert_for_everyone(path)
