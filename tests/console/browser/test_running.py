"""The pages to tune and run a project, in a browser: accessible, usable with the keyboard, and without side effects."""

import json
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from apps.events.models import Webhook
from apps.imports.models import FileImport
from apps.memories.models import Rollback
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import Reason, Role, Scope, WorkState
from apps.pipeline.core.input_validation import storable
from apps.projects.api_keys import create_key
from apps.tenants.models import Project
from apps.traces.models import ConfigurationVersion, PreFilterRule, Replay, Trace, Turn
from tests.console.browser.conftest import OpenPage
from tests.console.browser.test_hostile_text import hostile, look

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def pages(project: Project) -> list[str]:
    trace = Trace.objects.filter(project=project).latest("created_at")
    user = quote(trace.end_user.external_id)
    rule = PreFilterRule.objects.filter(project=project).earliest("order").name
    replay = Replay.objects.filter(project=project).latest("created_at").pk
    return [
        "dashboard/?range=1h",
        "traces/",
        f"traces/{trace.pk}/",
        "ask/?q=live",
        "recall/",
        f"recall/?user={user}&q=green+tea&limit=1&budget=60&against=1",
        "patterns/",
        f"patterns/rules/{rule}/",
        "configuration/",
        "configuration/1/",
        "queue/",
        "alerts/",
        "alerts/recipients/",
        "webhooks/",
        f"webhooks/{Webhook.objects.get(project=project).pk}/",
        "keys/",
        "members/",
        "project/",
        "rollbacks/",
        "rollbacks/new/?version=1",
        f"rollbacks/{Rollback.objects.latest('id').pk}/",
        "replays/",
        "replays/new/",
        f"replays/{replay}/",
        "replays/what-if/",
        "evaluation/",
        "evaluation/label/?kind=memory",
        f"evaluation/comparison/?replay={replay}",
        "imports/",
        "imports/new/",
        f"imports/{FileImport.objects.get(project=project).pk}/",
    ]


def test_pages_are_for_everyone(open_window: OpenPage, full_project: Project) -> None:
    OutboxRow.objects.filter(project=full_project).update(state=WorkState.PENDING)
    create_key(project_id=full_project.pk, name="agent", scopes=[Scope.READ])
    window = open_window()
    for path in pages(full_project):
        window.open(path)
        window.assert_for_everyone(path)


def test_the_dashboard_draws_its_plots(open_window: OpenPage, full_project: Project) -> None:
    window = open_window()
    page = window.page
    window.open("dashboard/?range=1h")
    page.get_by_text("on target or with too little data").click()
    expect(page.locator("[data-plot] canvas")).to_have_count(page.locator("[data-plot]").count())
    assert page.locator("[data-plot] canvas").count() >= 3
    expect(page.locator(".funnel li")).to_have_count(5)


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


def test_keys_move_in_a_list_of_pages_and_the_way_back_leads_to_its_row(
    open_window: OpenPage, full_project: Project
) -> None:
    window = open_window()
    page = window.page
    window.open("traces/")
    window.press("j", "j", "j")
    current = page.locator("[data-row][aria-current=true]")
    title = current.locator(".said").inner_text()
    assert title != page.locator("[data-row] .said").first.inner_text()
    window.press("Enter")
    expect(page.get_by_role("heading", name="Stages")).to_be_visible()
    page.go_back()
    expect(current.locator(".said")).to_have_text(title)


def test_hostile_text_stays_text(open_window: OpenPage, full_project: Project) -> None:
    texts = hostile()
    trace = fill(full_project, texts)
    window = open_window()
    for path in (*pages(full_project), f"traces/{trace.pk}/", "ask/?q=i", "queue/", "patterns/?reason=pattern"):
        look(window, path)
    for page in range(2, len(texts) // 50 + 2):
        for path in ("patterns/?reason=pattern&", "queue/?"):
            look(window, f"{path}page={page}")


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


def test_what_a_store_is_worth_is_downloaded_or_imported(open_window: OpenPage, project: Project) -> None:
    window = open_window()
    page = window.page
    window.open("imports/audit/")
    page.get_by_label("File").set_input_files({"name": "store.txt", "mimeType": "text/plain", "buffer": b"Likes tea\n"})
    page.get_by_role("button", name="Audit").click()
    with page.expect_download() as kept:
        page.get_by_role("button", name="Download it").click()
    assert kept.value.suggested_filename == "kept.json"
    page.get_by_role("button", name="Import what is worth keeping").click()
    expect(page.get_by_role("heading", name="Import", exact=True)).to_be_visible()
