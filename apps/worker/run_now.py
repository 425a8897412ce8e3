"""Run an accepted request while its caller waits, after the earlier work of the same end user."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import replace

import structlog
from django.conf import settings
from django.db import Error, connection
from django.utils import timezone

from apps.common.errors import Conflict
from apps.intake.accept import Accepted
from apps.memories.live_ports import live
from apps.outbox import leases
from apps.outbox.leases import Lease
from apps.outbox.model_pauses import pause_of_user
from apps.pipeline.core.enums import TraceStatus
from apps.pipeline.core.model_calls import ModelAnswer, ModelRequest
from apps.pipeline.core.ports import Model
from apps.tenants.scope import tenant_scope
from apps.traces.models import Trace
from apps.worker.process_user import process_user
from apps.worker.shutdown import Deadline, OutOfTime

log = structlog.get_logger(__name__)

POLL_SECONDS = 0.02


def run_now(*, accepted: Accepted, wait_seconds: float) -> Trace:
    """Return the trace once it has ended, or in its current state after `wait_seconds`.

    The calling process does the work itself unless a worker holds the end user's lease; then it waits for that worker.
    Work that is not done when the time is up, for example because a model is slow, is left to the workers. Raises
    Conflict if the end user is erased in the meantime.
    """
    deadline = Deadline(time.monotonic() + wait_seconds)
    ports = live()
    if ports.model:
        ports = replace(ports, model=DeadlineModel(ports.model, deadline))
    trace = _read(accepted)
    while trace.status == TraceStatus.QUEUED and not deadline.is_set():
        claimed = leases.claim(limit=1, seconds=settings.WORK_LEASE_SECONDS, only=accepted.end_user_id)
        for lease in claimed:
            scope = tenant_scope(project_id=lease.project_id, end_user_id=lease.end_user_id)
            with renewed_lease(lease), scope:
                process_user(lease=lease, ports=ports, stop=deadline)
        if not claimed:
            pause = pause_of_user(end_user_id=accepted.end_user_id)
            left = deadline.at - time.monotonic()
            if pause is not None and (pause.until - timezone.now()).total_seconds() > left:
                break  # the model is not asked again before the caller's time is up
            time.sleep(POLL_SECONDS)  # another worker holds the lease and doesn't tell when it is done
        trace = _read(accepted)
    return trace


def _read(accepted: Accepted) -> Trace:
    trace = Trace.objects.filter(end_user_id=accepted.end_user_id, id=accepted.trace_id).first()
    if trace is None:
        raise Conflict("the end user was erased before the turns were processed")
    return trace


_lock = threading.Lock()
_waiting = 0


@contextmanager
def permit_to_wait() -> Iterator[bool]:
    """Yield True while a caller may wait, False if SYNC_REQUESTS others of this process do so already."""
    global _waiting
    with _lock:
        is_permitted = _waiting < settings.SYNC_REQUESTS
        _waiting += is_permitted
    try:
        yield is_permitted
    finally:
        with _lock:
            _waiting -= is_permitted


class DeadlineModel:
    """Asks a model in a thread of its own; an answer that comes after the deadline is not used."""

    def __init__(self, model: Model, deadline: Deadline) -> None:
        self._model, self._deadline = model, deadline

    def complete(self, request: ModelRequest) -> ModelAnswer:
        """Answer a request. Raises ModelFailed, OutOfTime."""
        if not connection.in_atomic_block:
            connection.close()  # calls are long, connections are few
        answer: Future[ModelAnswer] = Future()

        def ask() -> None:
            try:
                answer.set_result(self._model.complete(request))
            except Exception as error:  # noqa: BLE001  (the waiting caller raises it)
                answer.set_exception(error)

        within = copy_context()  # its log lines and spans are of the same request
        threading.Thread(target=within.run, args=(ask,), name="model", daemon=True).start()
        try:
            return answer.result(timeout=max(0.0, self._deadline.at - time.monotonic()))
        except FutureTimeout as error:
            raise OutOfTime("the model has not answered in time") from error


@contextmanager
def renewed_lease(lease: Lease) -> Iterator[Lease]:
    """Renew a lease in a thread while the block runs, every HEARTBEAT_SECONDS; a lost lease is not taken again."""
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(settings.HEARTBEAT_SECONDS):
            try:
                with tenant_scope(project_id=lease.project_id, end_user_id=lease.end_user_id):
                    leases.renew(held=[lease], seconds=settings.WORK_LEASE_SECONDS)
            except Error as error:
                log.warning("lease not renewed", end_user=str(lease.end_user_id), error=str(error))
            finally:
                connection.close()

    renewing = threading.Thread(target=renew, name="lease", daemon=True)
    renewing.start()
    try:
        yield lease
    finally:
        ended.set()
        renewing.join()
