"""Done work is deleted after its retention, in batches; open, dead and recent work stays."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from apps.outbox import processing
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import WorkKind, WorkState
from apps.pipeline.core.identifiers import new_id
from apps.queue import prune as pruning
from apps.queue.prune import prune
from apps.tenants.models import Invitation, Project
from apps.traces.models import IdempotentRequest, ModelTestCall
from tests.outbox.outbox_factories import add_work, claim_one, make_user, row

pytestmark = pytest.mark.django_db

LONG_AGO = timedelta(days=settings.WORK_RETENTION_DAYS, minutes=1)
NOT_SO_LONG_AGO = timedelta(days=settings.WORK_RETENTION_DAYS, minutes=-1)


def work(project: Project, state: WorkState, *, finished: timedelta | None) -> int:
    user = make_user(project)
    (number,) = add_work(project, user, kind=WorkKind.INDEX_MEMORY)
    at = timezone.now() - finished if finished else None
    OutboxRow.objects.filter(id=number).update(state=state, finished_at=at, created_at=timezone.now() - LONG_AGO)
    return number


def request(project: Project, *, age: timedelta) -> None:
    at = timezone.now() - age
    IdempotentRequest.objects.create(
        project=project, key=str(new_id()), fingerprint="", answer_status=202, answer={}, created_at=at
    )


def test_old_finished_work_goes(project: Project) -> None:
    for _ in range(3):
        work(project, WorkState.DONE, finished=LONG_AGO)
    assert prune() == 3
    assert not OutboxRow.objects.exists()
    assert prune() == 0


@pytest.mark.parametrize(
    ("state", "finished"),
    [
        (WorkState.DONE, NOT_SO_LONG_AGO),
        (WorkState.DEAD, LONG_AGO),
        (WorkState.PENDING, None),
        (WorkState.RUNNING, None),
    ],
)
def test_young_dead_and_open_work_stays(project: Project, state: WorkState, finished: timedelta | None) -> None:
    work(project, state, finished=finished)
    assert prune() == 0
    assert OutboxRow.objects.count() == 1


def test_stored_answers_are_deleted_after_their_retention(project: Project) -> None:
    kept = timedelta(hours=settings.IDEMPOTENCY_KEPT_HOURS)
    request(project, age=kept + timedelta(minutes=1))
    request(project, age=kept - timedelta(minutes=1))
    assert prune() == 1
    assert IdempotentRequest.objects.count() == 1


def test_much_goes_in_batches(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "BATCH", 2)
    for _ in range(5):
        work(project, WorkState.DONE, finished=LONG_AGO)
        request(project, age=LONG_AGO)
    assert prune() == 10


def test_so_it_does_where_the_planner_believes_that_there_is_little(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planner then evaluates the subquery again for each row, unless it is materialized."""
    monkeypatch.setattr(pruning, "BATCH", 2)
    for analyzed_when_empty in (True, False):
        for minutes in (1, 4, 3, 2, 5):
            work(project, WorkState.DONE, finished=LONG_AGO + timedelta(minutes=minutes))
            request(project, age=LONG_AGO + timedelta(minutes=minutes))
        if analyzed_when_empty:
            with connection.cursor() as cursor:
                cursor.execute("delete from outbox_outboxrow; delete from traces_idempotentrequest")
                cursor.execute("analyze outbox_outboxrow, traces_idempotentrequest")
    assert prune() == 10


def test_work_can_be_enqueued_again_after_its_row_was_deleted(project: Project) -> None:
    user, memory = make_user(project), new_id()
    add_work(project, user, memory, kind=WorkKind.INDEX_MEMORY)
    lease = claim_one(user)
    processing.finish(lease=lease, work=processing.take(lease=lease, runs=1))
    processing.take(lease=lease, runs=1)
    OutboxRow.objects.update(finished_at=timezone.now() - LONG_AGO)
    prune()
    (number,) = add_work(project, user, memory, kind=WorkKind.INDEX_MEMORY)
    assert row(number).state == WorkState.PENDING


def test_expired_invitations_and_old_test_calls_are_deleted(project: Project) -> None:
    now, inviter = timezone.now(), User.objects.create_user("tess")
    for name, ago in (("old", LONG_AGO), ("recent", NOT_SO_LONG_AGO)):
        Invitation.objects.create(
            project=project, role="viewer", token_hash=name, invited_by=inviter, expires_at=now - ago
        )
        ModelTestCall.objects.create(project=project, model=name, created_at=now - ago)

    assert prune() == 2
    assert list(Invitation.objects.values_list("token_hash", flat=True)) == ["recent"]
    assert list(ModelTestCall.objects.values_list("model", flat=True)) == ["recent"]
