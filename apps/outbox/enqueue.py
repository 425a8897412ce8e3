"""Add work to the outbox: one row per subject, and mark its end user as ready. All times are the database's.

Every transaction takes its locks in the same order, which prevents deadlocks (docs/decisions/outbox.md): end user,
session, memories, lease, outbox rows, trace. A transaction that accepts a request or writes memories therefore enqueues
its work last.
"""

import time
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Sum
from django.db.models.functions import Now
from django.db.models.query import QuerySet
from django_q.brokers import get_broker
from django_q.tasks import async_task

from apps.outbox.leases import mark_ready, set_ready_at
from apps.outbox.models import OutboxRow, UserLease
from apps.pipeline.core.enums import WorkKind, WorkState

log = structlog.get_logger(__name__)

WAKE_SECONDS = 1.0  # a process wakes the workers no more often; they look for work for longer before they end
_next_wake = float("-inf")


def queue_task(name: str, *arguments: str, group: str, timeout: int | None = None) -> None:
    """Queue a task of apps/worker/tasks.py; call it after the commit of what the task reads.

    A broker that is away is logged only: what it was to be told is stored, and a scheduled task finds it.
    """
    limit = {} if timeout is None else {"timeout": timeout}
    try:
        async_task(f"apps.worker.tasks.{name}", *arguments, group=group, **limit)
    except Exception as error:  # noqa: BLE001  (each broker raises errors of its own)
        log.warning("task not queued", task=name, error=type(error).__name__)


def wake_workers() -> None:
    """Queue the task that does the work of the outbox, unless this process did so a moment ago or enough are queued.

    Call it after the commit of new work. A broker that is away is logged only: the schedule finds the work.
    """
    global _next_wake
    now = time.monotonic()
    if now < _next_wake:
        return
    _next_wake = now + WAKE_SECONDS
    try:
        if get_broker().queue_size() < settings.CLUSTER_WORKERS:
            async_task("apps.worker.tasks.work", group="work")
    except Exception as error:  # noqa: BLE001  (each broker raises errors of its own)
        log.warning("workers not woken", error=type(error).__name__)


ROWS_AT_ONCE = 500


def enqueue(
    *,
    end_user_id: UUID,
    project_id: UUID,
    kind: WorkKind,
    subject_ids: Sequence[UUID],
    session_id: UUID | None = None,
    turn_count: int = 1,
) -> None:
    """Enqueue one row per subject in the caller's transaction, and wake the workers after its commit.

    A row of the same subject becomes pending again and is due now, also while it runs, because it may have missed what
    the caller has just written.
    A user that waits for a model becomes ready, as the new work may not need the model. `turn_count` is the number of
    turns of a pipeline run, 1 for other work.
    """
    # The lease of the end user is locked, or created, and ready now.
    if not mark_ready(end_user_ids=[end_user_id]):
        lease = UserLease(end_user_id=end_user_id, project_id=project_id, ready_at=Now())
        UserLease.objects.bulk_create([lease], ignore_conflicts=True)
        mark_ready(end_user_ids=[end_user_id])  # waits for, and locks, what another transaction has created
    OutboxRow.objects.bulk_create(
        [
            OutboxRow(
                end_user_id=end_user_id,
                project_id=project_id,
                kind=kind,
                subject_id=each,
                session_id=session_id,
                turn_count=turn_count,
                run_at=Now(),
                created_at=Now(),
            )
            for each in subject_ids
        ],
        update_conflicts=True,
        unique_fields=["end_user", "kind", "subject_id"],
        update_fields=["state", "attempts", "run_at", "waiting_since", "created_at", "finished_at"],
        batch_size=ROWS_AT_ONCE,
    )
    transaction.on_commit(wake_workers)


def let_wait(*, end_user_id: UUID, session_id: UUID, quiet: timedelta, most_turns: int) -> None:
    """Let the runs of a session wait until it was quiet for this long, or until `most_turns` turns wait.

    Call it in the transaction that has enqueued a run of the session, and locked its lease.
    """
    waiting = _waiting(end_user_id, session_id)
    turns = waiting.aggregate(turns=Sum("turn_count"))["turns"] or 0
    waiting.update(run_at=Now() if turns >= most_turns else Now() + quiet)
    set_ready_at(end_user_id=end_user_id)


def stop_waiting(*, end_user_id: UUID, session_id: UUID) -> None:
    """Make the runs of a session due that wait for further turns."""
    with transaction.atomic():
        # The lease is locked before rows, as everywhere.
        UserLease.objects.select_for_update().filter(end_user_id=end_user_id).first()
        if _waiting(end_user_id, session_id).filter(run_at__gt=Now()).update(run_at=Now()):
            set_ready_at(end_user_id=end_user_id)


def _waiting(end_user_id: UUID, session_id: UUID) -> QuerySet[OutboxRow]:
    return OutboxRow.objects.filter(
        end_user_id=end_user_id,
        session_id=session_id,
        kind=WorkKind.RUN_PIPELINE,
        state=WorkState.PENDING,
        attempts=0,
        waiting_since=None,
    )
