"""What is wrong in a project: what each trouble says, which explains which, and from when on somebody is told."""

from datetime import datetime, timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone
from psycopg.errors import DiskFull, ReadOnlySqlTransaction
from pytest_django import DjangoAssertNumQueries

from apps.alerts.enums import ProblemCode
from apps.alerts.models import SchedulerHeartbeat
from apps.alerts.verdict import ADVICE, ALERTS, Trouble, verdict_of
from apps.outbox import outages
from apps.outbox.models import ModelPause, OutboxRow, PausedKind
from apps.pipeline.core.enums import WorkState
from apps.telemetry.metrics import RequestCounts
from apps.tenants.models import Project
from tests.alerts.alert_rows import MINUTE, beat, pause, work

pytestmark = pytest.mark.django_db
NOW = timezone.now()
THEN = f"{NOW - 6 * MINUTE:%Y-%m-%d %H:%M} UTC"


def found(project: Project, now: datetime = NOW) -> list[Trouble]:
    return verdict_of(project_id=project.pk, now=now).troubles


def test_nothing_is_wrong_while_work_is_done(
    project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    beat()
    work(project, since=NOW - MINUTE / 2)
    with django_assert_num_queries(1):
        assert found(project) == []


def test_a_model_that_is_silent_explains_late_work(project: Project) -> None:
    beat()
    pause(project, since=NOW - 6 * MINUTE)
    for _ in range(2):
        work(project, since=NOW - 6 * MINUTE)
    (trouble,) = found(project)
    assert (trouble.code, trouble.subject) == (ProblemCode.MODEL_UNAVAILABLE, "openai:down")
    assert trouble.cause == f"The model openai:down has not answered since {THEN}."
    assert trouble.cost == "2 requests wait for it; what was said is remembered once it answers."
    ModelPause.objects.update(kind=PausedKind.EMBEDDER)
    assert found(project)[0].cause.startswith("The embedder openai:down has not answered")


def test_without_a_worker_late_work_is_no_trouble_of_its_own(project: Project) -> None:
    (idle,) = found(project)
    assert idle.cause == "No worker is running."
    assert not idle.is_told(now=NOW)  # nobody misses it yet
    work(project, since=NOW - 90 * MINUTE / 60)
    (trouble,) = found(project)
    assert trouble.cause == "No worker is running, and the oldest work has waited for 90 s."
    assert trouble.cost == "What was said since then is remembered late."


def test_late_and_failed_work(project: Project) -> None:
    beat()
    work(project, since=NOW - 12 * MINUTE)
    work(project, since=NOW, state=WorkState.DEAD)
    late, dead = found(project)
    assert (late.code, late.cause) == ("work_late", "The oldest queued work has waited for 12 min.")
    assert (dead.code, dead.cause) == ("dead_work", "1 piece of work failed for good.")


def test_work_that_waits_for_further_turns_is_not_late(project: Project) -> None:
    beat()
    row = work(project, since=NOW - 12 * MINUTE)
    OutboxRow.objects.filter(pk=row.pk).update(run_at=timezone.now() + MINUTE)
    assert found(project) == []


def test_a_scheduler_that_starts_nothing(project: Project) -> None:
    beat()
    counted(RequestCounts(), since=NOW - 6 * MINUTE, until=NOW - 6 * MINUTE)
    (trouble,) = found(project)
    assert (trouble.code, trouble.cause) == ("no_scheduler", f"The scheduler has started no task since {THEN}.")
    assert not trouble.is_told(now=NOW)  # nobody could: the scheduler evaluates alerts


@pytest.mark.parametrize(
    ("counts", "minutes", "cause"),
    [
        (RequestCounts(1_000, 0, 200, 0), 9, ""),
        (RequestCounts(1_000, 20, 200, 10), 9, ""),
        (RequestCounts(1_000, 21, 200, 0), 9, "21 of 1000 requests of the last ten minutes failed."),
        (RequestCounts(1_000, 0, 200, 11), 9, "11 of 200 requests for memories in the last ten minutes"),
        (RequestCounts(99, 99, 99, 99), 9, ""),
        (RequestCounts(1_000, 1_000, 200, 200), 4, ""),
    ],
    ids=["healthy", "just healthy", "errors", "slow", "too few", "known for too short"],
)
def test_requests_are_judged_by_the_last_minutes(
    project: Project, counts: RequestCounts, minutes: int, cause: str
) -> None:
    beat()
    counted(counts, since=NOW - minutes * MINUTE)
    assert [each.cause[: len(cause)] for each in found(project)] == ([cause] if cause else [])
    assert all(each.is_told(now=NOW) for each in found(project))


def test_too_few_requests_are_not_judged(project: Project) -> None:
    assert verdict_of(project_id=project.pk, now=NOW).has_few_requests
    counted(RequestCounts(100, 0, 0, 0), since=NOW - 9 * MINUTE)
    assert not verdict_of(project_id=project.pk, now=NOW).has_few_requests


def test_work_of_an_archived_project_waits_on_purpose(project: Project) -> None:
    work(project, since=NOW - 12 * MINUTE)
    assert verdict_of(project_id=project.pk, now=NOW, is_archived=True).troubles == []


def test_what_users_feel_is_told_after_a_while() -> None:
    assert set(ALERTS) == {"work_late", "dead_work", "model_unavailable", "requests_fail", "requests_slow", "no_worker"}
    for code in ALERTS:
        after = ADVICE[code].told_after
        assert after is not None
        told = Trouble(code, "cause", since=NOW - after)
        assert told.is_told(now=NOW)
        assert not told.is_told(now=NOW - timedelta(seconds=1))


@pytest.mark.parametrize(
    ("error", "code"), [(DiskFull(), ProblemCode.DISK_FULL), (ReadOnlySqlTransaction(), ProblemCode.READ_ONLY)]
)
def test_a_refused_write_names_its_reason(
    project: Project, monkeypatch: pytest.MonkeyPatch, error: Exception, code: ProblemCode
) -> None:
    beat()
    monkeypatch.setattr(outages, "_refused_at", {})
    refused = OperationalError("refused")
    refused.__cause__ = error
    outages.note_refusal(refused)
    assert [each.code for each in found(project)] == [code]


def counted(counts: RequestCounts, *, since: datetime, until: datetime = NOW) -> None:
    """Let the processes of a host count so many requests from one minute to another."""
    values = [[since.timestamp(), *RequestCounts()], [until.timestamp(), *counts]]
    SchedulerHeartbeat.objects.create(host="here", seen_at=until, counts=values)
