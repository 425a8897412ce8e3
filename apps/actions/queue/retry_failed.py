"""Run failed work of a project again: dead work, and traces with a failed extraction."""

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from apps.actions.ledger.record import record
from apps.outbox import enqueue, manual, model_pauses
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import RUNS, TraceStatus, WorkState
from apps.pipeline.core.identifiers import end_user_id
from apps.traces import recorder
from apps.traces.models import Trace, Turn

BATCH = 200  # rows in one transaction, so that no lease stays locked for long
FAILED = frozenset({TraceStatus.DEAD, TraceStatus.EXTRACTION_FAILED})


def retry_failed(
    *, project_id: UUID, statuses: Iterable[TraceStatus] = FAILED, error: str = "", user_id: str = ""
) -> int:
    """Make failed work due now and reset its attempts; return how many pieces of work these were.

    `error` restricts it to errors that contain this text, `user_id` to the work of one end user. Work of one end user
    runs in the order in which it was accepted. A paused model is tried at once. Each batch is its own transaction, so
    an interrupted call has retried some of the work.
    """
    retried, statuses = 0, frozenset(statuses)
    user = end_user_id(project_id=project_id, user_id=user_id) if user_id else None
    if TraceStatus.DEAD in statuses:
        retried += _retry_dead(_of_user(OutboxRow.objects.filter(project_id=project_id), user), error)
    if TraceStatus.EXTRACTION_FAILED in statuses:
        retried += _retry_extractions(_of_user(Trace.objects.filter(project_id=project_id), user), error)
    if retried:
        details = {"retried": retried, "statuses": sorted(status.value for status in statuses)}
        record(
            project_id=project_id,
            end_user_id=user,
            verb="work_retried",
            object_kind="project",
            object_id=project_id,
            details=details,
        )
        model_pauses.try_now(project_id=project_id)
    return retried


def _of_user(rows: QuerySet, user: UUID | None) -> QuerySet:
    return rows.filter(end_user_id=user) if user else rows


def _retry_dead(rows: QuerySet[OutboxRow], error: str) -> int:
    """Retry dead rows, each batch in one transaction with the lock order of the outbox: leases, rows, traces."""
    dead = rows.filter(state=WorkState.DEAD, last_error__contains=error).order_by("id")
    last = count = 0
    while found := list(dead.filter(id__gt=last).values_list("id", "end_user_id")[:BATCH]):
        last = found[-1][0]
        with transaction.atomic():
            retried = manual.retry_dead(row_ids=[row for row, _ in found], end_user_ids=[user for _, user in found])
            ids = [each.subject_id for each in retried if each.kind in RUNS]
            traces = Trace.objects.filter(end_user_id__in={each.end_user_id for each in retried}, id__in=ids)
            traces.update(status=TraceStatus.QUEUED, finished_at=None)
        count += len(retried)
    return count


def _retry_extractions(rows: QuerySet[Trace], error: str) -> int:
    """Enqueue the work of failed extractions again; their outbox rows were done and may have been pruned."""
    turns = Turn.objects.filter(end_user=OuterRef("end_user"), trace=OuterRef("pk"))
    failed = rows.filter(status=TraceStatus.EXTRACTION_FAILED, error__contains=error).order_by(
        "end_user_id", "created_at"
    )
    ids = list(failed.values_list("id", flat=True))
    count = 0
    for first in range(0, len(ids), BATCH):
        with transaction.atomic():
            found = list(failed.filter(id__in=ids[first : first + BATCH]).annotate(has_turns=Exists(turns)))
            for trace in found:
                enqueue.enqueue(
                    end_user_id=trace.end_user_id,
                    project_id=trace.project_id,
                    kind=trace.work_kind(has_turns=trace.has_turns),
                    subject_ids=[trace.id],
                    session_id=trace.session_id,
                )
            recorder.reopen(traces=found)
        count += len(found)
    return count
