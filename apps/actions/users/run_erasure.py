"""Go on with an erasure, in short transactions, until nothing is left or the time is up."""

import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, transaction
from django.utils import timezone
from django_q.models import Task

from apps.actions.ledger.record import record
from apps.actions.users.user_data import USER_TABLES, UserTable
from apps.events.recording import record_event
from apps.memories.write_conflicts import stale_on_write_conflict
from apps.outbox.leases import revoke
from apps.outbox.models import ModelPause
from apps.pipeline.core.enums import EventType
from apps.pipeline.core.ports import StalePlan
from apps.tenants.models import EndUser, Erasure
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import Replay, RulePreview

BATCH_ROWS = 1_000  # per transaction, so that none holds its locks for long


def run_erasure(*, erasure_id: UUID, most: timedelta) -> bool:
    """Delete rows batch by batch; return True once nothing is left and the receipt is finished.

    Each batch commits together with its counts, so an interrupted erasure can continue. Two processes that run
    the same erasure take turns. A batch that was the victim of a deadlock is repeated.
    """
    deadline = time.monotonic() + most.total_seconds()
    revoke(end_user_id=Erasure.objects.values_list("end_user_id", flat=True).get(id=erasure_id))
    tables: Sequence[UserTable] = USER_TABLES
    while Erasure.objects.filter(id=erasure_id, finished_at__isnull=True).exists():
        if time.monotonic() >= deadline:
            return False
        # The tables of a batch are in another order than the locks of a writer that began before the erasure did.
        with suppress(StalePlan), stale_on_write_conflict():
            tables = run_batch(erasure_id, tables)
    return True


def continue_erasures(*, most: timedelta) -> int:
    """Go on with unfinished erasures, oldest first; return how many are finished now."""
    deadline = time.monotonic() + most.total_seconds()
    finished = 0
    with system_scope(SystemWork.SCHEDULE):
        unfinished = list(Erasure.objects.filter(finished_at__isnull=True).order_by("id"))
    for erasure in unfinished:
        with tenant_scope(project_id=erasure.project_id, end_user_id=erasure.end_user_id):
            finished += run_erasure(erasure_id=erasure.id, most=timedelta(seconds=deadline - time.monotonic()))
    return finished


def run_batch(erasure_id: UUID, tables: Sequence[UserTable]) -> Sequence[UserTable]:
    """Delete one batch of rows from these tables in one transaction; return those that may hold more.

    Without tables, finish the erasure: that reads all of them again, and returns them if there was still a row.
    """
    with transaction.atomic():
        erasure = Erasure.objects.select_for_update().get(id=erasure_id)
        if erasure.finished_at is not None:
            return ()
        left = _delete_some(erasure, tables) if tables else _finish(erasure)
        erasure.save(update_fields=["counts", "finished_at"])
    return left


def _delete_some(erasure: Erasure, tables: Sequence[UserTable]) -> Sequence[UserTable]:
    """Delete up to BATCH_ROWS rows, and count them in the receipt; return the tables that may hold more.

    A table that is empty is not read again by each batch: its index still leads to all deleted rows.
    """
    left = BATCH_ROWS
    for place, table in enumerate(tables):
        rows = table.model._base_manager.filter(end_user_id=erasure.end_user_id)
        if table.self_reference:
            referring = rows.filter(**{f"{table.self_reference}__isnull": False}).values("pk")[:left]
            left -= rows.filter(pk__in=referring).update(**{table.self_reference: None})
        if left > 0:
            # Without Django's cascade, which reads what may refer to the rows: all of that is deleted before.
            deleted = rows.filter(pk__in=rows.values("pk")[:left])._raw_delete(DEFAULT_DB_ALIAS)
            if deleted:
                erasure.counts[table.name] = erasure.counts.get(table.name, 0) + deleted
            left -= deleted
        if left <= 0:
            return tables[place:]
    return ()


def _finish(erasure: Erasure) -> Sequence[UserTable]:
    """Let the user return as a new one, unless transactions older than the erasure have written rows since."""
    user = EndUser.objects.select_for_update().get(id=erasure.end_user_id)
    before = dict(erasure.counts)
    _delete_some(erasure, USER_TABLES)
    if erasure.counts != before:
        return USER_TABLES
    _forget_elsewhere(erasure)
    erasure.finished_at = user.erased_at = timezone.now()
    user.erasing_since = None
    user.save(update_fields=["erasing_since", "erased_at"])
    record(
        project_id=erasure.project_id,
        end_user_id=user.id,
        actor=erasure.actor,
        verb="erased",
        object_kind="end_user",
        object_id=user.id,
        details={"erasure": str(erasure.id), "user_hash": erasure.user_hash, "rows": erasure.counts},
    )
    # Without `end_user_id`: it is nothing of the user's, and stays when the user returns and is erased again.
    named = {"end_user": user.shown_id, "erasure": erasure.shown_id}
    record_event(project_id=erasure.project_id, type=EventType.USER_ERASED, details=named)
    return ()


def _forget_elsewhere(erasure: Erasure) -> None:
    """Remove what tables of the project and of the queue may quote."""
    user_id = str(erasure.end_user_id)
    previews = RulePreview.objects.filter(project_id=erasure.project_id, examples__contains=[{"end_user": user_id}])
    for preview in previews.select_for_update():  # its examples refer to turns of end users
        preview.examples = [each for each in preview.examples if each["end_user"] != user_id]
        preview.save(update_fields=["examples"])
    # What was chosen for a replay names its user and session as the caller does.
    Replay.objects.filter(project_id=erasure.project_id, choice__end_user=user_id).update(choice={})
    ModelPause.objects.filter(project_id=erasure.project_id).update(error="")
    Task.objects.filter(success=False).delete()  # tracebacks, which name no user that they could be found by
