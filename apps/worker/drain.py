"""Drain the outbox: work for many end users at once, each under a lease, until a stop is requested."""

import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, Queue

import structlog
from django.conf import settings
from django.db import DatabaseError, connection, transaction

from apps.actions.live_ports import live
from apps.outbox import heartbeats, leases, postponing
from apps.outbox.fetch import fetch
from apps.outbox.leases import Lease
from apps.outbox.outages import is_locked_out
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.ports import Ports
from apps.providers.cpu_permits import CpuPermits
from apps.telemetry.metrics import note_pool
from apps.tenants.scope import no_tenant, tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.worker.erased_caches import clear_if_due
from apps.worker.process_user import process_user
from apps.worker.shutdown import STOPPING, StopFlag, stopping_on_signals
from apps.worker.thread_pool import ThreadPool

log = structlog.get_logger(__name__)

POLL_SECONDS = 0.05  # between two queries for work while idle
OUTAGE_SECONDS = 0.5  # between two attempts to reach the database while it is down
GRACE_SECONDS = 6.0  # to finish work in flight after a stop was requested; then its leases are released
LOOK_SECONDS = 1.0  # between two looks for end users who wait, while all threads work
LOCK_TIMEOUT = "300ms"  # for one lease when they are given back: whoever asked for the stop does not wait for long
LAST_SECONDS = 600.0  # to finish work in flight after the last claim


@dataclass(slots=True)
class Drain:
    """One worker: it claims end users, hands them to threads, renews their leases and writes its heartbeat.

    With `idle_seconds` it also survives an outage of the database. End users whose work was left running by a crashed
    worker are processed alone, so that other work loses no attempt if that work kills the worker again. A thread keeps
    its end user while no other waits, for at most MOST_SLICES slices. Others wait in the queue, while all threads work,
    or here for the first permit of their thread.
    """

    ports: Ports
    threads: int
    stop: StopFlag
    idle_seconds: float  # stop after this long without work; 0: stop as soon as no work is due
    most_seconds: float  # stop claiming after this long, and end
    permits: CpuPermits = field(default_factory=lambda: CpuPermits(settings.WORKER_CPU_PERMITS))
    done: int = 0
    in_flight: dict[Future[int], Lease] = field(default_factory=dict)
    ended: Queue[Future[int]] = field(default_factory=Queue)  # of those in flight; see _collect
    suspects: deque[Lease] = field(default_factory=deque)
    others_wait: bool = False  # end users who are ready when all threads work
    unstarted: set[Lease] = field(default_factory=set)  # of those in flight, whose threads have had no permit yet
    last_look: float = float("-inf")

    def run(self) -> int:
        """Drain; return how many rows were done. Raises DatabaseError if `idle_seconds` is 0."""
        started = last_work = time.monotonic()
        heartbeat = heartbeats.Heartbeat(worker=new_id(), every=settings.HEARTBEAT_SECONDS)
        pool = ThreadPool(self.threads)
        while not self.stop.is_set():
            now = time.monotonic()
            claiming = now - started < self.most_seconds
            self._claim_and_renew(pool, heartbeat, claiming=claiming)
            if self.suspects and not self.in_flight:
                self._submit(pool, self.suspects.popleft())
            if self.in_flight:
                last_work = now
            elif not claiming or now - last_work >= self.idle_seconds:
                break
            if now - started >= self.most_seconds + LAST_SECONDS:
                break  # work that never ends must not keep the process, which would renew its leases for ever
            self._collect(timeout=POLL_SECONDS)
        self._finish()
        pool.dismiss()
        _delete_heartbeat(heartbeat)
        return self.done

    def _claim_and_renew(self, pool: ThreadPool, heartbeat: heartbeats.Heartbeat, *, claiming: bool) -> None:
        """Claim end users, write the heartbeat and renew the leases of work that is still in flight."""
        try:
            if claiming:
                self._claim(pool)
            else:
                self.others_wait = True  # other workers claim whoever has work left
            if heartbeat.beat(done=self.done, in_flight=len(self.in_flight)):
                with system_scope(SystemWork.QUEUE):
                    leases.renew(held=self._held(), seconds=settings.WORK_LEASE_SECONDS)
            clear_if_due()
            note_pool()
        except DatabaseError as error:
            if not self.idle_seconds:
                raise
            log.warning("database unavailable", error=str(error))
            connection.close()
            time.sleep(OUTAGE_SECONDS)  # there is no notification when it is back

    def _claim(self, pool: ThreadPool) -> None:
        free = self.threads - len(self.in_flight)
        is_alone = any(lease.is_retry_after_crash for lease in self.in_flight.values())
        if self.suspects or is_alone:
            self.others_wait = True
            return
        if not free:
            self._look()
            return
        with system_scope(SystemWork.QUEUE):
            claimed = leases.claim(limit=free, seconds=settings.WORK_LEASE_SECONDS)
        self.others_wait = len(claimed) == free
        for lease in claimed:
            if lease.is_retry_after_crash:
                self.suspects.append(lease)
            else:
                self._submit(pool, lease)

    def _look(self) -> None:
        """See now and then whether others wait, so that threads whose time is over go on, or release their users."""
        now = time.monotonic()
        if now - self.last_look < LOOK_SECONDS:
            return
        self.last_look = now
        with system_scope(SystemWork.QUEUE):
            self.others_wait = leases.is_anyone_ready()

    def _submit(self, pool: ThreadPool, lease: Lease) -> None:
        self.unstarted.add(lease)  # before its thread can discard it
        future = pool.submit(partial(self._work, lease))
        self.in_flight[future] = lease
        future.add_done_callback(self.ended.put)

    def _work(self, lease: Lease) -> int:
        """Do the work of one end user, in a thread of the pool."""
        with self.permits.held(), tenant_scope(project_id=lease.project_id, end_user_id=lease.end_user_id):
            self.unstarted.discard(lease)
            try:
                if self.stop.is_set():  # set while this thread waited for a permit
                    leases.release(lease=lease)
                    return 0
                return process_user(
                    lease=lease,
                    ports=self.ports,
                    stop=self.stop,
                    seconds=settings.WORK_SLICE_SECONDS,
                    others_wait=self._gives_way,
                )
            except DatabaseError:
                log.exception("work abandoned", end_user=str(lease.end_user_id))
                return 0  # the lease expires, and the next worker that claims it repeats the work
            finally:
                connection.close()  # returns the thread's connection to the pool

    def _gives_way(self) -> bool:
        """Return True if a thread whose slice is over should release its user.

        Threads that wait for a permit again, after a model has answered, don't count: with a model there are nearly
        always some, so no user would be kept. A released user can be claimed by another process whose threads are idle.
        """
        return self.others_wait or bool(self.unstarted)

    def _held(self) -> list[Lease]:
        return [*self.in_flight.values(), *self.suspects]

    def _collect(self, *, timeout: float) -> None:
        """Wait for the first result, or without work in flight just for the timeout.

        A SimpleQueue would wait for ever if a signal came when the timeout is just over (Python 3.11), as at a stop.
        """
        if not self.in_flight:
            time.sleep(timeout)  # new work is found by polling
            return
        try:
            ended = [self.ended.get(timeout=timeout)]
        except Empty:
            return
        ended += [self.ended.get_nowait() for _ in range(self.ended.qsize())]  # no other thread takes any
        for future in ended:
            del self.in_flight[future]
            self.done += future.result()

    def _finish(self) -> None:
        """Wait up to GRACE_SECONDS for work in flight, then release its leases, after which it can't commit.

        To be interrupted by a stop costs work no attempt.
        """
        deadline = time.monotonic() + GRACE_SECONDS
        try:
            while self.in_flight and time.monotonic() < deadline:
                self._collect(timeout=POLL_SECONDS)
        finally:
            self._give_all_back()

    def _give_all_back(self) -> None:
        for lease in self._held():
            try:
                self._give_back(lease)
            except DatabaseError as error:
                log.warning("lease not released", end_user=str(lease.end_user_id), error=str(error))  # it expires
                if not is_locked_out(error):
                    connection.close()
                    break  # the database is away: each further attempt would wait for it, too

    def _give_back(self, lease: Lease) -> None:
        with system_scope(SystemWork.QUEUE), transaction.atomic():
            fetch("select set_config('lock_timeout', %s, true)", [LOCK_TIMEOUT])
            if self.stop.is_set():
                postponing.put_back_interrupted(lease=lease)
            leases.release(lease=lease)


def _delete_heartbeat(heartbeat: heartbeats.Heartbeat) -> None:
    """Delete the worker's heartbeat; one that can't be deleted because the database fails expires by itself."""
    try:
        heartbeat.stop()
    except DatabaseError as error:
        log.warning("heartbeat not deleted", error=str(error))
        connection.close()


def drain(*, idle_seconds: float = 0.0, most_seconds: float = float("inf")) -> int:
    """Do all due work with the live ports; return how many rows were done.

    SIGTERM and SIGINT end it gracefully where it runs in the main thread.
    """
    worker = Drain(
        ports=live(),
        threads=settings.WORK_THREADS,
        stop=STOPPING,
        idle_seconds=idle_seconds,
        most_seconds=most_seconds,
    )
    with stopping_on_signals(), no_tenant():
        return worker.run()
