"""Models on the Queue page: what their calls have come to, and test calls that end an outage."""

from datetime import timedelta

import anthropic  # noqa: F401  # so that no test call spends its time on the import
import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from apps.intake.quotas import QuotaExceeded, check_quotas
from apps.memories.models import LedgerEntry
from apps.outbox.models import ModelPause
from apps.queue.services import MOST_PER_MINUTE, model_health
from apps.tenants.enums import MemberRole
from apps.tenants.models import EndUser, Project
from apps.traces.funnel_metrics import Measure
from apps.traces.models import HourlyTally, ModelCall, ModelTestCall, Trace
from apps.traces.tallies import tally
from benchmarks.model_server import ModelServer, Reply
from tests.console.members import HOME, member, text_of

pytestmark = pytest.mark.django_db
MODEL = "anthropic:claude-haiku-4-5"
SECRET = "sk-ant-api03-" + "b7Q" * 12


@pytest.fixture
def tess(project: Project, model_server: ModelServer) -> Client:
    return member("tess", project, MemberRole.ADMIN)


@pytest.fixture
def down(model_server: ModelServer) -> ModelServer:
    model_server.answering = lambda _: Reply(status=503, headers={"retry-after-ms": "1"}, error="overloaded")
    return model_server


def answer(_: object) -> Reply:
    return Reply(text='{"ok": true}')


def try_call(browser: Client, model: str = MODEL) -> str:
    return browser.post(f"{HOME}queue/test-model/", {"model": model}, follow=True).content.decode()


def pause(project: Project) -> None:
    now = timezone.now()
    ModelPause.objects.create(project=project, model=MODEL, kind="model", since=now, until=now, error="refused")


def test_a_model_that_answers_again_ends_its_pause(project: Project, tess: Client, model_server: ModelServer) -> None:
    pause(project)
    assert "does not answer" in text_of(tess, "queue/")
    model_server.answering = answer
    assert f"{MODEL} has answered in" in try_call(tess)
    assert not ModelPause.objects.exists()
    made = ModelTestCall.objects.get()
    assert (made.error, made.output_tokens > 0, made.cost_usd > 0) == ("", True, True)
    assert LedgerEntry.objects.get(verb="model_tested").details == {"answered": 1}
    assert "chip-good" in text_of(tess, "queue/")


def test_a_model_that_does_not_answer_says_why(project: Project, tess: Client, down: ModelServer) -> None:
    pause(project)
    page = try_call(tess)
    assert "did not answer after" in page
    assert "overloaded" in page
    assert ModelPause.objects.exists()
    assert "overloaded" in ModelTestCall.objects.get().error


def test_a_slow_model_is_not_waited_for(
    project: Project, tess: Client, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.queue.services.SECONDS", 0.2)
    model_server.answering = lambda _: Reply(text="{}", delay_ms=60_000)
    assert "did not answer after" in try_call(tess)
    assert ModelTestCall.objects.get().latency_us < 30_000_000


@pytest.mark.django_db(transaction=True)
def test_no_connection_is_held_while_the_model_answers(tess: Client, model_server: ModelServer) -> None:
    held: list[bool] = []
    requests = connection  # of this thread, in which the view runs

    def look(asked: object) -> Reply:
        held.append(requests.connection is not None)
        return answer(asked)

    model_server.answering = look
    try_call(tess)
    assert held == [False]


def test_test_calls_count_as_calls_of_the_project(project: Project, tess: Client, model_server: ModelServer) -> None:
    model_server.answering = answer
    try_call(tess)
    tally(settled_after=timedelta())
    sums = dict(HourlyTally.objects.filter(project=project).values_list("measure", "amount"))
    assert sums[Measure.CALLS] == 1
    Project.objects.update(max_model_usd_per_day="0.01")
    ModelTestCall.objects.update(cost_usd="0.02")
    with pytest.raises(QuotaExceeded):
        check_quotas(project_id=project.pk)


def test_test_calls_are_limited_and_only_of_configured_models(
    tess: Client, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.queue.services.MINUTE", 24 * 60 * 60)  # a window that outlasts the test
    assert "no such model is configured" in try_call(tess, "openai:anything")
    model_server.answering = answer
    pages = [try_call(tess) for _ in range(MOST_PER_MINUTE + 1)]
    assert "test calls of this minute" in pages[-1]
    assert ModelTestCall.objects.count() == MOST_PER_MINUTE


def test_a_viewer_sees_models_and_makes_no_call(project: Project, model_server: ModelServer) -> None:
    vic = member("vic", project, MemberRole.VIEWER)
    assert MODEL in text_of(vic, "queue/")
    assert "Test call" not in text_of(vic, "queue/")


def call(trace: Trace, *, hours_ago: int, error: str = "", model: str = "claude-haiku-4-5") -> None:
    ModelCall.objects.create(
        end_user=trace.end_user,
        trace=trace,
        purpose="extract",
        model=model,
        request_hash="0",
        prompt_version="1",
        latency_us=1_500_000,
        error=error,
        created_at=timezone.now() - timedelta(hours=hours_ago),
    )


def test_figures_are_those_of_a_day_and_of_the_project(
    full_project: Project, other_project: Project, model_server: ModelServer
) -> None:
    trace = Trace.objects.filter(project=full_project).latest("id")
    for hours in (1, 2, 30):
        call(trace, hours_ago=hours)
    call(trace, hours_ago=3, error=f"refused: {SECRET}", model=MODEL)
    theirs = Trace.objects.get(pk=trace.pk)
    theirs.pk, theirs.project = None, other_project
    theirs.end_user = EndUser.objects.create(id=other_project.pk, project=other_project, external_id="x")
    theirs.id = other_project.pk
    theirs.save(force_insert=True)
    call(theirs, hours_ago=1)
    (figures,) = [each for each in model_health(project_id=full_project.pk, pauses=[]) if each["name"] == MODEL]
    assert [figures[name] for name in ("calls", "failed", "median_seconds", "state")] == [3, 1, 1.5, "answers"]
    assert SECRET not in figures["last_error"]
    assert figures["last_error"].startswith("refused: [")
