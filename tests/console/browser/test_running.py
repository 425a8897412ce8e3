"""The pages to tune and run a project, in a browser: accessible, usable with the keyboard, and without side effects."""

import json
import re

import pytest
from playwright.sync_api import expect

from apps.events.models import Webhook
from apps.memories.models import Rollback
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import Reason, Role, WorkState
from apps.pipeline.core.input_validation import storable
from apps.tenants.models import Project
from apps.traces.models import ConfigurationVersion, PreFilterRule, Trace, Turn
from tests.alerts.alert_rows import alert
from tests.console.browser.conftest import OpenPage, Window
from tests.console.browser.test_hostile_text import INJECTED, hostile

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def pages(project: Project) -> list[str]:
    trace = Trace.objects.filter(project=project).latest("created_at").pk
    rule = PreFilterRule.objects.filter(project=project).earliest("order").name
    lists = [
        "dashboard/?range=1h",
        "traces/",
        "patterns/",
        "configuration/",
        "queue/",
        "alerts/",
        "alerts/recipients/",
        "webhooks/",
        f"webhooks/{Webhook.objects.get(project=project).pk}/",
        "keys/",
        "members/",
        "project/",
        "rollbacks/",
    ]
    lists += ["rollbacks/new/?version=1", f"rollbacks/{Rollback.objects.latest('id').pk}/"]
    return [*lists, f"traces/{trace}/", "ask/?q=live", f"patterns/rules/{rule}/", "configuration/1/"]


def test_pages_are_for_everyone(open_window: OpenPage, full_project: Project) -> None:
    """All but that of keys, which test_keys.py looks at with its form open."""
    OutboxRow.objects.filter(project=full_project).update(state=WorkState.PENDING)
    window = open_window()
    for path in pages(full_project):
        if path != "keys/":
            window.open(path)
            window.assert_for_everyone(path)


def test_an_operator_looks_after_the_project(open_window: OpenPage, full_project: Project) -> None:
    window = open_window()
    page = window.page

    # The dashboard draws its plots.
    window.open("dashboard/?range=1h")
    page.get_by_text("on target or with too little data").click()
    expect(page.locator("[data-plot] canvas")).to_have_count(page.locator("[data-plot]").count())
    assert page.locator("[data-plot] canvas").count() >= 3
    expect(page.locator(".funnel li")).to_have_count(5)

    # An alert is acknowledged with a note.
    alert(full_project)
    window.open("alerts/?state=open")
    expect(page.get_by_role("link", name=re.compile("^What is wrong"))).to_contain_text("1")
    page.get_by_label("Note to the alert").fill("on it")
    page.get_by_role("button", name="Acknowledge").click()
    expect(page.get_by_text("Acknowledged by ana")).to_contain_text("on it")
    expect(page.get_by_role("link", name=re.compile("^What is wrong"))).not_to_contain_text("1")

    # Work is discarded, and retried by undo.
    rows = OutboxRow.objects.filter(project=full_project)
    rows.update(state=WorkState.PENDING)
    window.open("queue/")
    page.get_by_role("button", name="Discard").first.click()
    expect(page.get_by_text("was discarded.")).to_be_visible()
    assert rows.filter(state=WorkState.DEAD).count() == 1
    window.press("u")
    expect(page.get_by_text("will be retried now.")).to_be_visible()
    assert not rows.filter(state=WorkState.DEAD).exists()

    # Failed work is one click away from an empty queue.
    rows.update(state=WorkState.DONE)
    rows.filter(pk=rows.earliest("id").pk).update(state=WorkState.DEAD, last_error="gave up")
    window.open("queue/")
    expect(page.get_by_role("heading", name="Nothing is pending")).to_be_visible()
    expect(page.get_by_text("1 entry failed")).to_be_visible()
    page.get_by_role("link", name="show failed entries").click()
    expect(page.locator("tbody [data-row]")).to_have_count(1)


def test_an_admin_tunes_the_project(open_window: OpenPage, full_project: Project) -> None:
    window = open_window()
    page = window.page

    # A turn is tried while it is typed.
    window.open("patterns/")
    trial = page.locator("#trial")
    page.get_by_label("What the user says").fill("thank you!")
    expect(trial.get_by_text("dropped", exact=True)).to_be_visible()
    page.get_by_label("What the user says").fill("I live in Porto.")
    expect(trial.get_by_text("passes")).to_be_visible()
    window.settle()

    # A setting is found, changed and undone.
    window.open("configuration/")
    expect(page.locator("[data-setting]:visible")).to_have_count(12)
    page.get_by_text("Expert", exact=True).click()
    expect(page.get_by_text("Pre-filter", exact=True)).to_be_visible()
    page.get_by_label("Find a setting").fill("letters")
    expect(page.locator("[data-setting]:visible")).to_have_count(1)
    page.get_by_label("Least letters").fill("3")
    expect(page.locator("#changes")).to_contain_text("1 change to save: Pre-filter · Least letters of a turn: 2 → 3")
    page.get_by_label("Find a setting").fill("zebra")
    expect(page.get_by_text("No setting has these words.")).to_be_visible()
    window.press("Escape", "s")
    expect(page.get_by_text("Version 2 is active", exact=False).first).to_be_visible()
    assert ConfigurationVersion.objects.get(is_active=True).as_policy().pre_filter.min_letters == 3
    window.press("u")
    expect(page.get_by_text("Version 1 was restored as version 3.")).to_be_visible()


def test_traces_and_why_a_turn_was_not_remembered(open_window: OpenPage, full_project: Project) -> None:
    window = open_window()
    page = window.page

    # Keys move in a list of pages, and Enter opens one; the way back leads to its row.
    window.open("traces/")
    window.press("j", "j", "j")
    current = page.locator("[data-row][aria-current=true]")
    title = current.locator(".said").inner_text()
    assert title != page.locator("[data-row] .said").first.inner_text()
    window.press("Enter")
    expect(page.get_by_role("heading", name="Stages")).to_be_visible()
    page.go_back()
    expect(current.locator(".said")).to_have_text(title)

    # From a question to the trace.
    page.get_by_role("link", name="Why was it not remembered?").click()
    page.get_by_label("Words, in any order").fill("thanks")
    window.press("Enter")
    expect(page.get_by_text("it only says thanks")).to_be_visible()
    page.get_by_role("link", name="Show the trace").click()
    expect(page.get_by_role("heading", name="What happened")).to_be_visible()


def test_hostile_text_stays_text(open_window: OpenPage, full_project: Project) -> None:
    texts = hostile()
    trace = fill(full_project, texts)
    window = open_window()
    for path in (*pages(full_project), f"traces/{trace.pk}/", "ask/?q=i", "queue/", "patterns/?reason=pattern"):
        look(window, path)
    for page in range(2, len(texts) // 50 + 2):
        for path in ("patterns/?reason=pattern&", "queue/?"):
            look(window, f"{path}page={page}")


def look(window: Window, path: str) -> None:
    window.open(path)
    assert window.page.locator(INJECTED).count() == 0, path
    assert not window.is_too_wide(), path


def fill(project: Project, texts: list[str]) -> Trace:
    """Write each text to all fields with text of callers and admins: turns, rules, errors, plans, calls."""
    trace = Trace.objects.filter(project=project, status="done").latest("created_at")
    shown = trace.turns.first().shown_id  # type: ignore[union-attr]
    trace.outcomes = [
        {"turn": shown, "candidate": 0, "content": text, "outcome": "discarded", "stage": "extract", "reason": text}
        for text in texts
    ]
    trace.plan = [{"op": "AddMemory", "content": text} for text in texts]
    trace.metadata = {text: text for text in texts}
    trace.error = json.dumps(texts[:20])
    trace.save()
    position = Turn.objects.filter(session=trace.session).count()
    mine = {"end_user": trace.end_user, "session": trace.session, "trace": trace, "role": Role.USER}
    Turn.objects.bulk_create(
        Turn(**mine, position=position + number, content=text, speaker=text[:120], rejected_for=text[:96])
        for number, text in enumerate(texts)
    )
    PreFilterRule.objects.bulk_create(
        PreFilterRule(project=project, name=f"odd_{number}", reason=Reason.PATTERN, pattern=text, order=1)
        for number, text in enumerate(texts)
    )
    trace.model_calls.create(
        end_user=trace.end_user,
        purpose="extract",
        request_hash="0",
        model=texts[0][:120],
        prompt_version="1",
        answer="\n".join(map(storable, texts)),
        error=texts[-1],
    )
    OutboxRow.objects.bulk_create(
        OutboxRow(
            end_user=trace.end_user,
            project=project,
            kind="index_memory",
            subject_id=turn.pk,
            state=WorkState.PENDING,
            last_error=turn.content,
        )
        for turn in Turn.objects.filter(trace=trace)
    )
    return trace
