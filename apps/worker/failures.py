"""Put back work that failed, each row together with its trace."""

import time
from collections.abc import Sequence

import structlog
from django.conf import settings
from django.db import connection, transaction

from apps.outbox import processing
from apps.outbox.leased import LostLease
from apps.outbox.leases import Lease
from apps.outbox.models import OutboxRow
from apps.outbox.outages import OUTAGES, is_outage
from apps.outbox.processing import NextWork
from apps.pipeline.core.enums import RUNS, TraceStatus, WorkState
from apps.pipeline.core.model_calls import ModelCallRecord, ModelFailed
from apps.traces import recorder
from apps.worker.model_gate import ModelPaused
from apps.worker.shutdown import StopSignal

log = structlog.get_logger(__name__)

RECONNECT_SECONDS = 0.5  # between two tries to reach an unavailable database


def count_attempt(lease: Lease, work: Sequence[NextWork], error: Exception) -> None:
    """Schedule another attempt of rows that failed, or mark them as dead after their last attempt.

    Of traces that ran together, those before the failed one are done already and stay as they are. Work that a model
    refuses for good is dead at once, unless several requests shared the call: then each is tried alone.
    """
    message = f"{type(error).__name__}: {error}"
    is_final = isinstance(error, ModelFailed) and error.permanent and len(work) == 1
    if isinstance(error, ModelFailed):
        _record_calls(lease, work, error)
    for each in work:
        with transaction.atomic():
            most = 1 if is_final else settings.WORK_MAX_ATTEMPTS
            _fail_trace(processing.fail(lease=lease, work=each, error=message, most_attempts=most))


def run_once_more(lease: Lease, work: NextWork, *, error: str, calls: Sequence[ModelCallRecord]) -> None:
    """Schedule another attempt of a run whose answers could not be read, and keep what the calls have cost."""
    with transaction.atomic():
        row = processing.fail(lease=lease, work=work, error=error, most_attempts=settings.WORK_MAX_ATTEMPTS)
        if row is None:
            raise LostLease(f"the lease of end user {lease.end_user_id} is gone")
        _fail_trace(row)
        recorder.record_calls(end_user_id=lease.end_user_id, trace_id=work.subject_id, calls=calls)


def wait_for_model(lease: Lease, work: Sequence[NextWork], paused: ModelPaused) -> bool:
    """Put rows back until a paused model answers; return True if they wait, False if the first was given up."""
    log.warning("model paused", model=paused.paused_model, kind=work[0].kind, error=str(paused))
    _record_calls(lease, work, paused)
    with transaction.atomic():
        postponed = processing.wait_for_model(
            lease=lease, work=work, model=paused.paused_model, error=str(paused), is_suspect=paused.is_suspect
        )
        for row in postponed:
            _fail_trace(row)
    return not any(row.state == WorkState.DEAD for row in postponed)


def wait_for_database(lease: Lease, work: Sequence[NextWork], error: Exception, stop: StopSignal | None) -> None:
    """Put rows back that a failing database has interrupted, as soon as it accepts writes again.

    Raises DatabaseError if it is unavailable for longer than a lease lasts, or until the worker has to stop.
    """
    deadline = time.monotonic() + settings.WORK_LEASE_SECONDS
    while True:
        try:
            with transaction.atomic():
                message = f"{type(error).__name__}: {error}"
                for row in processing.wait_for_database(lease=lease, work=work, error=message):
                    _fail_trace(row)
                return
        except OUTAGES as failure:
            if not is_outage(failure):
                raise
            if not connection.in_atomic_block:
                connection.close()
            if time.monotonic() >= deadline or (stop is not None and stop.is_set()):
                raise
        time.sleep(RECONNECT_SECONDS)  # no notification announces when the database is back


def _fail_trace(row: OutboxRow | None) -> None:
    """Let the trace of a run that was put back say so; None where it was not, as it is no longer this worker's."""
    if row is not None and row.kind in RUNS:
        status = TraceStatus.DEAD if row.state == WorkState.DEAD else TraceStatus.QUEUED
        recorder.fail_trace(end_user_id=row.end_user_id, trace_id=row.subject_id, status=status, error=row.last_error)


def _record_calls(lease: Lease, work: Sequence[NextWork], failure: ModelFailed) -> None:
    if failure.calls:
        recorder.record_calls(end_user_id=lease.end_user_id, trace_id=work[0].subject_id, calls=failure.calls)
