"""A rule is written in a browser: its preview tells what it would change, and it is saved and undone by the keys."""

import re

import pytest
from playwright.sync_api import Page, expect

from apps.memories.models import MemoryOrigin
from apps.pipeline import flow
from apps.pipeline.core.draft import Draft, Request
from apps.pipeline.core.policy import Policy
from apps.pipeline.prefilter.conversation import EARLIER_TURN_CHARACTERS
from apps.tenants.models import Project
from apps.traces.models import PreFilterRule, RulePreview
from apps.traces.policies import active_policy
from apps.traces.requests import requests_since
from apps.tuning import rules as asking
from apps.tuning.rules import run_preview, with_rule
from tests.console.browser.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def write_rule(page: Page, *, name: str, pattern: str) -> None:
    page.get_by_label("Name").fill(name)
    page.get_by_role("textbox", name="Pattern").fill(pattern)


def dropped(request: Request, policy: Policy) -> set[object]:
    return {drop.turn_id for drop in flow.screen(Draft.start(request=request, policy=policy)).drops}


def numbers(page: Page) -> list[int]:
    shown = page.locator("[data-preview-done] dd")
    expect(shown).to_have_count(4)
    return [int(re.match(r"\d+", text)[0]) for text in shown.all_inner_texts()]  # type: ignore[index]


def test_a_rule_is_previewed_saved_and_undone(
    open_window: OpenPage, full_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = open_window()
    page = window.page

    # A preview says what running the pre-filter again gives.
    window.open("patterns/new/")
    write_rule(page, name="porto", pattern="porto")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("[data-preview-done]")).to_be_visible()
    preview = RulePreview.objects.get()
    now = active_policy(project_id=full_project.pk)
    then = with_rule(now, preview.as_rule())
    requests = list(
        requests_since(project_id=full_project.pk, since=preview.since, look_back_characters=EARLIER_TURN_CHARACTERS)
    )
    before = set().union(*(dropped(request, now) for request in requests))
    after = set().union(*(dropped(request, then) for request in requests))
    lost = MemoryOrigin.objects.filter(turn_id__in=after - before).values("turn_id").distinct().count()
    turns = sum(len(request.turns) for request in requests)
    assert numbers(page) == [turns, len(after - before), lost, len(before - after)]
    assert lost >= 1

    # A long preview shows its progress and then its answer.
    monkeypatch.setattr(asking, "IMMEDIATE_TURNS", 0)
    window.settle()
    window.open("patterns/new/")
    write_rule(page, name="porto", pattern="porto")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    run_preview(preview_id=RulePreview.objects.latest("created_at").pk)
    assert numbers(page)[1] == 1

    # A rule is written, saved and undone by the keys.
    window.settle()
    window.open("patterns/")
    window.press("n")
    expect(page.get_by_role("heading", name="New rule")).to_be_visible()
    write_rule(page, name="porto", pattern="zebra")
    window.press("Escape", "s")
    expect(page.get_by_text("Rule porto saved: version 2 is active.")).to_be_visible()
    assert PreFilterRule.objects.filter(name="porto").exists()
    window.press("u")
    expect(page.get_by_text("Version 1 was restored as version 3.")).to_be_visible()
    assert not PreFilterRule.objects.filter(name="porto").exists()
