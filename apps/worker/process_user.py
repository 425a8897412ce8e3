"""Do the open work of a leased end user, in the order in which it was accepted."""

from collections.abc import Sequence

import structlog
from django.conf import settings
from django.db import connection, transaction

from apps.actions.memories.index_memories import index_memories
from apps.outbox import leases, processing
from apps.outbox.leases import Lease, LostLease
from apps.outbox.scheduling import NextWork
from apps.pipeline.core.enums import RUNS, TraceStatus, WorkKind, WorkState
from apps.pipeline.core.model_calls import ModelFailed
from apps.pipeline.core.ports import Ports
from apps.traces import recorder
from apps.worker.run_session import run_session
from apps.worker.run_traces import run_traces
from apps.worker.shutdown import StopSignal

log = structlog.get_logger(__name__)


class WorkerDied(Exception):
    """The work was started the maximum number of times and never finished: it probably kills its worker."""


def process_user(*, lease: Lease, ports: Ports, stop: StopSignal | None = None) -> int:
    """Do all due work of the leased user and release the lease; return how many rows were done.

    Failed work is retried later, or marked as dead with its error after its last attempt.
    """
    done = 0
    remaining: Sequence[NextWork] = ()
    try:
        while work := processing.take(lease=lease, runs=settings.WORKER_BATCH_RUNS, open_work=remaining):
            rest = _attempt(lease, work, ports)
            done += len(work) if rest is not None else 0
            remaining = rest or ()
            if stop is not None and stop.is_set():
                leases.release(lease=lease)
                break
    except LostLease as lost:
        log.warning("lease lost", end_user=str(lease.end_user_id), error=str(lost))
    return done


def _attempt(lease: Lease, work: Sequence[NextWork], ports: Ports) -> list[NextWork] | None:
    """Do the work and return the user's remaining open work; None where it failed."""
    try:
        return _do(lease, work, ports)
    except LostLease:
        raise
    except Exception as error:  # work must never be lost, whatever a stage, a model or the database raises
        log.exception("work failed", kind=work[0].kind, subject=str(work[0].subject_id))
        _return_connection()
        _record_failure(lease, work, error)
        return None


def _do(lease: Lease, work: Sequence[NextWork], ports: Ports) -> list[NextWork]:
    if work[0].attempts > settings.WORK_MAX_ATTEMPTS:
        raise WorkerDied(f"started {settings.WORK_MAX_ATTEMPTS} times but never finished")
    if work[0].kind is WorkKind.RUN_PIPELINE:
        return run_traces(lease=lease, work=work, ports=ports)
    if work[0].kind is WorkKind.EXTRACT_SESSION:
        return [run_session(lease=lease, work=each, ports=ports) for each in work][-1]
    return index_memories(lease=lease, work=work, embedder=ports.embedder)


def _return_connection() -> None:
    """Return the connection to the pool, which discards broken ones; the next statement takes another."""
    if not connection.in_atomic_block:
        connection.close()


def _record_failure(lease: Lease, work: Sequence[NextWork], error: Exception) -> None:
    """Schedule another attempt of the rows that are not done, or mark them as dead if the error is permanent.

    Of traces that ran together, those before the failed one are done already and stay as they are.
    """
    message = f"{type(error).__name__}: {error}"
    failure = error if isinstance(error, ModelFailed) else None
    most = 1 if failure and failure.permanent else settings.WORK_MAX_ATTEMPTS
    if failure and failure.calls:
        first = work[0].subject_id
        recorder.record_calls(end_user_id=lease.end_user_id, trace_id=first, calls=failure.calls)
    for each in work:
        with transaction.atomic():
            state = processing.fail(lease=lease, work=each, error=message, most_attempts=most)
            if state is not None and each.kind in RUNS:
                status = TraceStatus.DEAD if state is WorkState.DEAD else TraceStatus.QUEUED
                recorder.fail_trace(
                    end_user_id=lease.end_user_id, trace_id=each.subject_id, status=status, error=message
                )
