"""Run failed work of a project again: dead work, and traces with a failed extraction."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from apps.outbox import enqueue, manual, model_pauses
from apps.outbox.models import OutboxRow
from apps.outbox.wake_workers import wake_workers
from apps.pipeline.core.enums import RUNS, TraceStatus, WorkKind, WorkState
from apps.pipeline.core.identifiers import end_user_id
from apps.traces import recorder
from apps.traces.models import Trace, Turn

AT_ONCE = 200  # rows in one transaction, so that no lease stays locked for long
FAILED = frozenset({TraceStatus.DEAD, TraceStatus.EXTRACTION_FAILED})


def retry_failed(
    *, project_id: UUID, statuses: Iterable[TraceStatus] = FAILED, error: str = "", user_id: str = ""
) -> int:
    """Make failed work due now and reset its attempts; return how many pieces of work these were.

    `error` restricts it to errors that contain this text, `user_id` to the work of one end user. Work of one end user
    runs in the order in which it was accepted. A paused model is tried at once. Each batch is its own transaction, so
    an interrupted call has retried some of the work.
    """
    retried = 0
    user = end_user_id(project_id=project_id, user_id=user_id) if user_id else None
    if TraceStatus.DEAD in statuses:
        retried += _retry_dead(_of_user(OutboxRow.objects.filter(project_id=project_id), user), error)
    if TraceStatus.EXTRACTION_FAILED in statuses:
        retried += _retry_extractions(_of_user(Trace.objects.filter(project_id=project_id), user), error)
    if retried:
        model_pauses.try_now(project_id=project_id)
        transaction.on_commit(wake_workers)
    return retried


def _of_user(rows: QuerySet, user: UUID | None) -> QuerySet:
    return rows.filter(end_user_id=user) if user else rows


def _retry_dead(rows: QuerySet[OutboxRow], error: str) -> int:
    dead = rows.filter(state=WorkState.DEAD, last_error__contains=error).order_by("id")
    last = retried = 0
    while found := list(dead.filter(id__gt=last).values_list("id", "end_user_id")[:AT_ONCE]):
        last = found[-1][0]
        retried += _retry_rows(found)
    return retried


def _retry_rows(found: Sequence[tuple[int, UUID]]) -> int:
    """Retry rows in one transaction, in the lock order of the outbox: leases, rows, traces."""
    with transaction.atomic():
        retried = manual.retry_dead(row_ids=[row for row, _ in found], end_user_ids=[user for _, user in found])
        traces = [each.subject_id for each in retried if each.kind in RUNS]
        users = {each.end_user_id for each in retried}
        Trace.objects.filter(end_user_id__in=users, id__in=traces).update(status=TraceStatus.QUEUED, finished_at=None)
    return len(retried)


def _retry_extractions(rows: QuerySet[Trace], error: str) -> int:
    failed = rows.filter(status=TraceStatus.EXTRACTION_FAILED, error__contains=error)
    ids = list(failed.order_by("end_user_id", "created_at").values_list("id", flat=True))
    batches = (ids[first : first + AT_ONCE] for first in range(0, len(ids), AT_ONCE))
    return sum(_enqueue_again(failed.filter(id__in=some)) for some in batches)


def _enqueue_again(traces: QuerySet[Trace]) -> int:
    """Enqueue the work of traces again; their outbox rows were done and may have been pruned."""
    turns = Turn.objects.filter(end_user=OuterRef("end_user"), trace=OuterRef("pk"))
    with transaction.atomic():
        found = list(traces.annotate(has_turns=Exists(turns)).order_by("end_user_id", "created_at"))
        for trace in found:
            enqueue.enqueue(
                end_user_id=trace.end_user_id,
                project_id=trace.project_id,
                kind=WorkKind.RUN_PIPELINE if trace.has_turns else WorkKind.EXTRACT_SESSION,
                subject_ids=[trace.id],
                session_id=trace.session_id,
            )
        recorder.reopen(traces=found)
    return len(found)
