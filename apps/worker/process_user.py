"""Do the open work of a leased end user, in the order in which it was accepted."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from time import monotonic

import structlog
from django.conf import settings
from django.db import connection

from apps.memories.services.indexing import ask_questions, index_memories
from apps.outbox import leases, processing
from apps.outbox.leased import LostLease
from apps.outbox.leases import Lease
from apps.outbox.outages import is_outage
from apps.outbox.processing import NextWork, Waiting
from apps.pipeline.core.enums import WorkKind
from apps.pipeline.core.ports import Ports
from apps.telemetry import metrics
from apps.worker import failures
from apps.worker.model_gate import ModelGate, ModelPaused
from apps.worker.run_traces import read_again, run_session, run_traces
from apps.worker.shutdown import OutOfTime, StopSignal

log = structlog.get_logger(__name__)


class WorkerDied(Exception):
    """The work was started the maximum number of times and never finished: it probably kills its worker."""


def process_user(
    *,
    lease: Lease,
    ports: Ports,
    stop: StopSignal | None = None,
    seconds: float = inf,
) -> int:
    """Do all due work of the leased user and release the lease; return how many rows were done.

    After `seconds` the lease is released with the current batch, so that others get their turn; the rest is claimed
    again.

    Failed work is retried later, or marked as dead with its error after its last attempt. Work that needs a model that
    does not answer waits for it, and so does later work of that kind; work of other kinds is done.
    """
    done, started = 0, monotonic()
    open_work: list[NextWork] = []
    waiting = Waiting()
    try:
        while work := processing.take(
            lease=lease, runs=settings.WORKER_BATCH_RUNS, open_work=open_work, waiting=waiting
        ):
            try:
                open_work = open_work if _do(lease, work, ports) else []
                done += len(work)
                _count(work, "done")
            except ModelPaused as paused:
                open_work = []
                _count(work, "waits_for_model")
                if failures.wait_for_model(lease, work, paused):
                    waiting = waiting.adding(kind=work[0].kind, model=paused.paused_model)
            except LostLease:
                raise
            except Exception as error:  # noqa: BLE001  (work must never be lost, whatever a stage raises)
                open_work = []
                _handle_failure(lease, work, error, stop)
            if monotonic() - started >= seconds or (stop is not None and stop.is_set()):
                leases.release(lease=lease, waits_for=waiting.model)
                break
    except LostLease as lost:
        log.warning("lease lost", end_user=str(lease.end_user_id), error=str(lost))
    return done


def _do(lease: Lease, work: Sequence[NextWork], ports: Ports) -> bool:
    """Do the work; return False if some of it is put back, to be done before other work."""
    if work[0].attempts > settings.WORK_MAX_ATTEMPTS:
        raise WorkerDied(f"started {settings.WORK_MAX_ATTEMPTS} times but never finished")
    gate = ModelGate(lease.project_id, paused=set(work[0].paused))
    # A judge is waited for like any model, but once: what it alone fails to answer must not become dead work.
    guarded = replace(gate.guarded(ports), waits_for_judge=work[0].attempts <= 1)
    if work[0].kind is WorkKind.RUN_PIPELINE:
        return run_traces(lease=lease, work=work, ports=guarded)
    if work[0].kind in (WorkKind.EXTRACT_SESSION, WorkKind.READ_AGAIN):
        run = run_session if work[0].kind is WorkKind.EXTRACT_SESSION else read_again
        done = [run(lease=lease, work=each, ports=guarded) for each in work]
        return all(done)
    if work[0].kind is WorkKind.ASK_QUESTIONS:
        ask_questions(lease=lease, work=work, ports=guarded)
    else:
        index_memories(lease=lease, work=work, ports=guarded)
    return True


def _handle_failure(lease: Lease, work: Sequence[NextWork], error: Exception, stop: StopSignal | None) -> None:
    """Put failed work back, in the way that its error calls for."""
    if not connection.in_atomic_block:
        connection.close()  # returns it to the pool, which discards broken ones; the next statement takes another
    if isinstance(error, OutOfTime):
        _count(work, "put_back")
        processing.put_back(lease=lease, work=work)
    elif is_outage(error):
        _count(work, "waits_for_database")
        log.warning("database failed", kind=work[0].kind, subject=str(work[0].subject_id), error=str(error))
        failures.wait_for_database(lease, work, error, stop)
    else:
        _count(work, "failed")
        log.exception("work failed", kind=work[0].kind, subject=str(work[0].subject_id))
        failures.count_attempt(lease, work, error)


def _count(work: Sequence[NextWork], outcome: str) -> None:
    metrics.WORK.labels(work[0].kind.value, outcome).inc(len(work))
