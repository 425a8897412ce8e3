"""Do what is due: work of end users, imports and webhooks, side by side in threads, each under a lease.

It is a task of django-q2 (apps/worker/tasks.py) that lasts for up to WORK_SECONDS, and a command (`manage.py drain`).
"""

import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from uuid import NAMESPACE_OID, UUID, uuid5

import structlog
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import F
from django.db.models.functions import Now

from apps.events.models import WebhookDelivery
from apps.events.record import number_all_events
from apps.imports.models import FileImport
from apps.imports.services import due_imports
from apps.intake.run_import import run_import
from apps.memories.live_ports import live
from apps.outbox import leases, processing
from apps.outbox.enqueue import wake_workers
from apps.outbox.leases import Lease
from apps.outbox.models import ModelPause, UserLease, WorkerHeartbeat
from apps.pipeline.core.ports import Ports
from apps.telemetry.metrics import note_pool
from apps.tenants.scope import no_tenant, tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.webhooks.delivery import claim as claim_webhooks
from apps.webhooks.delivery import deliver_claimed
from apps.worker.erased_caches import clear_if_due
from apps.worker.process_user import process_user
from apps.worker.shutdown import STOPPING, StopFlag, StopSignal, is_cluster_stopping, stopping_on_signals

log = structlog.get_logger(__name__)

POLL_SECONDS = 0.2  # between two queries for work of end users
OTHERS_SECONDS = 0.5  # between two queries for events, webhooks and imports
WAIT_SECONDS = 0.05  # for a result, before the loop looks what else is due
CLAIMED_AT_ONCE = 8  # end users; the next ones are left to other processes for a moment
IMPORTS_AT_ONCE, WEBHOOKS_AT_ONCE = 2, 4  # of a process
LOOK_SECONDS = 0.5  # between two looks whether the cluster is stopping
OUTAGE_SECONDS = 0.5  # between two attempts to reach the database while it is down
GRACE_SECONDS = 6.0  # to finish work in flight after a stop was requested; then its leases are released
LAST_SECONDS = 300.0  # to finish work in flight when the time is over
FORGET_AFTER = timedelta(days=1)  # a heartbeat of a process that was killed


@dataclass(slots=True)
class Worker:
    """Claims what is due, does it in threads, renews the leases of end users and writes its heartbeat.

    It ends when it has run for `seconds`, or after `idle_seconds` in which nothing was due, unless something will be
    due within `ahead_seconds`. End users whose work was left running by a crashed worker are processed alone, so that
    other work loses no attempt if that work kills the worker again.
    """

    seconds: float
    idle_seconds: float
    threads: int
    ports: Ports
    stop: StopFlag = STOPPING
    ahead_seconds: float = 0.0
    done: int = 0
    counted: int = 0  # of these, in the heartbeat
    users: dict[Future[int], Lease] = field(default_factory=dict)  # in flight
    suspects: deque[Lease] = field(default_factory=deque)
    imports: dict[Future[int], UUID] = field(default_factory=dict)  # in flight, with their projects
    webhooks: set[Future[int]] = field(default_factory=set)  # in flight
    next_claim: float = float("-inf")
    next_beat: float = float("-inf")
    next_others: float = float("-inf")
    next_look: float = float("-inf")

    def run(self) -> int:
        """Work; return how many pieces of work were done. Raises DatabaseError without idle time."""
        end = time.monotonic() + self.seconds
        last_work = time.monotonic()
        while not self._must_stop():
            now = time.monotonic()
            try:
                if now < end:
                    self._claim(now)
                self._beat(now)
                clear_if_due()
                if self.in_flight():
                    last_work = now
                elif now >= end or (now - last_work >= self.idle_seconds and not self._is_due_soon()):
                    break
            except DatabaseError as error:
                if not self.idle_seconds:
                    raise
                log.warning("database unavailable", error=str(error))
                connection.close()
                time.sleep(OUTAGE_SECONDS)  # there is no notification when it is back
            if now >= end + LAST_SECONDS:
                break  # work that never ends must not keep the process, which would renew its leases for ever
            self._collect()
        self._finish()
        return self.done

    def _must_stop(self) -> bool:
        now = time.monotonic()
        if now >= self.next_look:
            self.next_look = now + LOOK_SECONDS
            if is_cluster_stopping():
                self.stop.set()
        return self.stop.is_set()

    def in_flight(self) -> list[Future[int]]:
        """Return what the threads are doing."""
        return [*self.users, *self.imports, *self.webhooks]

    def _claim(self, now: float) -> None:
        is_alone = any(lease.is_retry_after_crash for lease in self.users.values())
        if not self.suspects and not is_alone and now >= self.next_claim:
            self.next_claim = now + POLL_SECONDS
            self._claim_users()
        if self.suspects and not self.users:
            self._start_user(self.suspects.popleft())
        if now >= self.next_others:
            self.next_others = now + OTHERS_SECONDS
            number_all_events()
            free = WEBHOOKS_AT_ONCE - len(self.webhooks)
            for webhook_id, project_id in claim_webhooks(most=free) if free else ():
                self.webhooks.add(_in_thread(partial(deliver_claimed, webhook_id, project_id, stop=self.stop.is_set)))
            for due in due_imports() if len(self.imports) < IMPORTS_AT_ONCE else ():
                if due.project_id not in self.imports.values() and len(self.imports) < IMPORTS_AT_ONCE:
                    self.imports[_in_thread(partial(import_file, due, self.stop))] = due.project_id

    def _claim_users(self) -> None:
        free = self.threads - len(self.users)
        if not free:
            wake_workers()  # another process may take what is left
            return
        with system_scope(SystemWork.QUEUE):
            claimed = leases.claim(limit=min(free, CLAIMED_AT_ONCE), seconds=settings.WORK_LEASE_SECONDS)
        if claimed:
            self.next_claim = time.monotonic() + WAIT_SECONDS
        for lease in claimed:
            if lease.is_retry_after_crash:
                self.suspects.append(lease)
            else:
                self._start_user(lease)

    def _start_user(self, lease: Lease) -> None:
        def process() -> int:
            seconds = settings.WORK_SLICE_SECONDS
            with tenant_scope(project_id=lease.project_id, end_user_id=lease.end_user_id):
                try:
                    return process_user(lease=lease, ports=self.ports, stop=self.stop, seconds=seconds)
                except DatabaseError:
                    log.exception("work abandoned", end_user=str(lease.end_user_id))
                    return 0  # the lease expires, and the next worker that claims it repeats the work

        self.users[_in_thread(process)] = lease

    def _is_due_soon(self) -> bool:
        if not self.ahead_seconds:
            return False
        soon = Now() + timedelta(seconds=self.ahead_seconds)
        with system_scope(SystemWork.QUEUE):
            return (
                UserLease.objects.filter(ready_at__lte=soon, waits_for="", project__archived_at=None).exists()
                or ModelPause.objects.filter(until__lte=soon).exists()
                or WebhookDelivery.objects.filter(
                    state="waiting", next_try_at__lte=soon, webhook__paused_at=None
                ).exists()
                or FileImport.objects.filter(resume_at__lte=soon).exists()
            )

    def _beat(self, now: float) -> None:
        """Renew the leases and write the heartbeat, if it is time."""
        if now < self.next_beat:
            return
        self.next_beat = now + settings.HEARTBEAT_SECONDS
        note_pool()
        with system_scope(SystemWork.QUEUE):
            if held := [*self.users.values(), *self.suspects]:
                leases.renew(held=held, seconds=settings.WORK_LEASE_SECONDS)
            self._write_heartbeat(is_working=True)
            WorkerHeartbeat.objects.filter(seen_at__lt=Now() - FORGET_AFTER).delete()

    def _write_heartbeat(self, *, is_working: bool) -> None:
        values = {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "in_flight": len(self.in_flight()),
            "seen_at": Now(),
            "is_working": is_working,
        }
        # A process works again and again, each time with a worker of its own.
        since, self.counted = self.done - self.counted, self.done
        WorkerHeartbeat.objects.update_or_create(
            worker=_this_process(),
            defaults=values | {"done": F("done") + since},
            create_defaults=values | {"done": self.done},
        )

    def _collect(self) -> None:
        """Wait a moment for results."""
        running = self.in_flight()
        if not running:
            time.sleep(WAIT_SECONDS)  # new work is found by polling
            return
        ended, _ = wait(running, timeout=WAIT_SECONDS, return_when=FIRST_COMPLETED)
        for future in ended:
            if self.users.pop(future, None):
                self.next_claim = float("-inf")  # a thread is free, and the rest of the user's work may be due
            self.imports.pop(future, None)
            self.webhooks.discard(future)
            if error := future.exception():  # it costs the others nothing
                log.error("work failed", exc_info=error)
            else:
                self.done += future.result()

    def _finish(self) -> None:
        """Wait up to GRACE_SECONDS for work in flight, then release its leases, after which it can't commit.

        To be interrupted by a stop costs work no attempt.
        """
        deadline = time.monotonic() + GRACE_SECONDS
        while self.in_flight() and time.monotonic() < deadline:
            self._collect()
        with system_scope(SystemWork.QUEUE):
            for lease in (*self.users.values(), *self.suspects):
                try:
                    if self.stop.is_set():
                        processing.put_back(lease=lease)
                    leases.release(lease=lease)
                except DatabaseError as error:
                    log.warning("lease not released", end_user=str(lease.end_user_id), error=str(error))  # it expires
                    connection.close()
            with suppress(DatabaseError):
                self._write_heartbeat(is_working=False)


def _in_thread(do: Callable[[], int]) -> Future[int]:
    """Run a function in a daemon thread with this thread's context; close the thread's connection afterwards.

    concurrent.futures joins its threads when the process ends, however long a model takes to answer.
    """
    future: Future[int] = Future()

    def run() -> None:
        try:
            future.set_result(do())
        except Exception as error:  # noqa: BLE001  (logged where the future is collected)
            future.set_exception(error)
        finally:
            connection.close()

    threading.Thread(target=copy_context().run, args=(run,), name="work", daemon=True).start()
    return future


def work(*, seconds: float = float("inf"), idle_seconds: float = 0.0, ahead_seconds: float = 0.0) -> int:
    """Do what is due with the live ports; return how many pieces of work were done.

    SIGTERM and SIGINT end it gracefully where it runs in the main thread.
    """
    worker = Worker(
        seconds=seconds,
        idle_seconds=idle_seconds,
        ahead_seconds=ahead_seconds,
        threads=settings.WORK_THREADS,
        ports=live(),
    )
    with stopping_on_signals(), no_tenant():
        return worker.run()


def other_workers() -> int:
    """Count the other processes of this host that do this now."""
    alive = timedelta(seconds=3 * settings.HEARTBEAT_SECONDS)
    with system_scope(SystemWork.QUEUE):
        working = WorkerHeartbeat.objects.filter(is_working=True, seen_at__gte=Now() - alive)
        return working.filter(host=socket.gethostname()).exclude(worker=_this_process()).count()


def _this_process() -> UUID:
    return uuid5(NAMESPACE_OID, f"{socket.gethostname()}:{os.getpid()}")


SLICE_CHUNKS = 200  # some seconds of work: each slice reads the file again up to its place


def import_file(due: FileImport, stop: StopSignal) -> int:
    """Check the whole file, as its counts are in memory alone, or import a slice of it; return 1."""
    try:
        run_import(import_id=due.pk, chunks=SLICE_CHUNKS, stop=stop.is_set)
    except DatabaseError as error:
        log.warning("import interrupted", file_import=str(due.pk), error=str(error))  # its lease expires
    return 1
