"""Alerts are opened, kept and resolved as rows, each once, also by two processes."""

from datetime import datetime
from threading import Barrier, Thread

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from apps.alerts import services as evaluating
from apps.alerts.enums import AlertState
from apps.alerts.models import Alert, AlertDelivery, SchedulerHeartbeat
from apps.alerts.services import evaluate_alerts, evaluate_project
from apps.alerts.verdict import Verdict, verdict_of
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import WorkState
from apps.queue.services import discard_work
from apps.tenants.models import Project
from tests.alerts.alert_rows import MINUTE, alert, beat, pause, recipients, work
from tests.outbox.second_connection import Aside

NOW = timezone.now()


def unresolved() -> list[tuple[str, str]]:
    return [(each.kind, each.subject) for each in Alert.objects.unresolved().order_by("id")]


def test_projects_without_anything_are_not_evaluated(project: Project, other_project: Project) -> None:
    work(other_project, since=NOW)
    assert evaluate_alerts(now=NOW) == 1


@pytest.mark.parametrize(("minutes", "alerts"), [(4, []), (5, [("work_late", "")])])
def test_nobody_is_told_of_what_may_be_over_in_a_moment(project: Project, minutes: int, alerts: list[object]) -> None:
    beat()
    work(project, since=NOW - minutes * MINUTE)
    pause(project, since=NOW - MINUTE / 2).delete()
    evaluate_alerts(now=NOW)
    assert unresolved() == alerts


def test_a_condition_that_flaps_stays_one_alert(project: Project) -> None:
    """It holds every third minute for an hour: nothing is opened or resolved after the first time."""
    beat()
    for minute in range(60):
        now = NOW + minute * MINUTE
        if minute % 3 == 0:
            row = work(project, since=now - 6 * MINUTE)
        evaluate_project(project_id=project.pk, now=now)
        OutboxRow.objects.filter(pk=row.pk).update(state=WorkState.DONE)
    (found,) = Alert.objects.all()
    assert (found.kind, found.state) == ("work_late", AlertState.OPEN)


def test_alerts_are_updated_while_they_last(project: Project) -> None:
    beat()
    work(project, since=NOW - 6 * MINUTE)
    evaluate_alerts(now=NOW)
    first = Alert.objects.get()
    work(project, since=NOW)
    evaluate_alerts(now=NOW + 3 * MINUTE)
    second = Alert.objects.get()
    assert (second.id, second.opened_at) == (first.id, first.opened_at)
    assert second.last_seen_at > first.last_seen_at
    assert "9 min" in second.cause


def test_an_acknowledged_alert_is_resolved_as_well(project: Project) -> None:
    alert(project, state=AlertState.ACKNOWLEDGED, last_seen_at=NOW - 11 * MINUTE)
    evaluate_alerts(now=NOW)
    assert Alert.objects.get().state == AlertState.RESOLVED


def test_what_happens_again_after_it_was_resolved_is_a_new_alert(project: Project) -> None:
    work(project, since=NOW - 6 * MINUTE)
    beat()
    alert(project, state=AlertState.RESOLVED, resolved_at=NOW)
    evaluate_alerts(now=NOW)
    assert Alert.objects.count() == 2
    assert unresolved() == [("work_late", "")]


def test_discarded_work_needs_nobody(project: Project) -> None:
    beat()
    row = work(project, since=NOW)
    discard_work(project_id=project.pk, row_id=row.pk)
    assert OutboxRow.objects.get().state == WorkState.DEAD
    evaluate_alerts(now=NOW)
    assert unresolved() == []


def test_an_evaluation_takes_few_queries_however_much_there_is(
    project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    beat()
    for minute in range(8):
        work(project, since=NOW - minute * MINUTE)
    with django_assert_max_num_queries(15):
        evaluate_alerts(now=NOW)


def test_a_project_that_fails_does_not_keep_others_from_being_watched(
    project: Project, other_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(*, project_id: object, now: datetime, is_archived: bool) -> Verdict:
        if project_id == project.pk:
            raise ZeroDivisionError
        return verdict_of(project_id=other_project.pk, now=now)

    monkeypatch.setattr(evaluating, "verdict_of", found)
    for each in (project, other_project):
        pause(each, since=NOW - 6 * MINUTE)
    evaluate_alerts(now=NOW)
    assert [each.project for each in Alert.objects.all()] == [other_project]


@pytest.mark.django_db(transaction=True)
def test_two_processes_open_one_alert_and_tell_it_once(project: Project) -> None:
    beat()
    recipients(project, "https://example.com/hook")
    pause(project, since=NOW - 6 * MINUTE)
    together = Barrier(4)

    def evaluate() -> None:
        try:
            together.wait()
            evaluate_alerts(now=NOW)
        finally:
            connection.close()

    threads = [Thread(target=evaluate) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (Alert.objects.count(), AlertDelivery.objects.count()) == (1, 1)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("place", range(0, 12, 3))
def test_another_process_passes_over_a_project_that_is_being_evaluated(project: Project, place: int) -> None:
    beat()
    recipients(project, "https://example.com/hook")
    pause(project, since=NOW - 6 * MINUTE)

    def evaluate() -> bool:
        return evaluate_project(project_id=project.pk, now=NOW)

    first, second = Aside(evaluate, pause_before=place).run(), Aside(evaluate).run()
    assert second.result is not None  # it has not waited for the first
    assert (first.end().error, second.end().error) == (None, None)
    assert first.result or second.result
    assert (Alert.objects.count(), AlertDelivery.objects.count()) == (1, 1)


def test_each_look_is_a_heartbeat_of_the_scheduler_with_the_requests_until_then(
    project: Project, client: APIClient
) -> None:
    evaluate_alerts(now=NOW - 12 * MINUTE)
    evaluate_alerts(now=NOW - 5 * MINUTE)
    assert client.get("/v1/memories?user_id=ana").status_code == 200
    evaluate_alerts(now=NOW)
    (beat,) = SchedulerHeartbeat.objects.all()
    assert beat.seen_at == NOW
    (first, answered, *_), (last, more, *_) = beat.counts  # what is older than ten minutes is forgotten
    assert (last - first, more > answered) == (300, True)
    assert client.get("/readyz").json()["scheduler_seconds"] is not None
