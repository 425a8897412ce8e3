"""The processes of a cluster that work without a task queue: drains, the event sender and the importer."""

import contextvars
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from functools import partial
from multiprocessing import get_context
from multiprocessing.context import ForkProcess

import structlog

from apps.telemetry.tracing import start_tracing, stop_tracing
from apps.tenants.scope import no_tenant
from apps.worker.drain import drain
from apps.worker.event_sender import send_events
from apps.worker.importer import import_files
from apps.worker.shutdown import STOPPING
from memplatform.cluster_metrics import serve_metrics

LIFETIME = 3_600.0  # seconds until a process is replaced, which returns what its memory has grown by
LEAST_LIFETIME = 5.0  # a process that ends sooner is not replaced before this time is over, as the next may end as well
PATIENCE = 10.0  # seconds for a graceful shutdown; more than GRACE_SECONDS of a drain
_STOPS = frozenset({signal.SIGTERM, signal.SIGINT})

log = structlog.get_logger(__name__)


class WorkProcesses:
    """The drains of one cluster, its event sender, its importer, and with a `metrics_port` what serves its metrics.

    Each is replaced when it ends, whatever becomes of the other processes. A cluster of one drain runs all of them as
    threads of one process.
    `watch` looks after what belongs to them; each is called as often as they are looked after.
    """

    def __init__(self, count: int, *, watch: Sequence[Callable[[], None]] = (), metrics_port: int = 0) -> None:
        self._watch = watch
        work: Callable[[], object] = partial(drain, idle_seconds=LIFETIME, most_seconds=LIFETIME)
        others: dict[str, Callable[[], object]] = {
            "event-sender": partial(send_events, seconds=LIFETIME),
            "importer": partial(import_files, seconds=LIFETIME),
        }
        self._works = {f"drain-{number + 1}": work for number in range(count)} | others
        if count == 1:
            self._works = {"worker": partial(_together, [work, *others.values()])}
        if metrics_port:
            self._works["metrics"] = partial(serve_metrics, metrics_port)
        self._running: dict[str, tuple[ForkProcess, float]] = {}

    def keep(self) -> None:
        """Start the processes that are missing."""
        for look in self._watch:
            look()
        for name in self._works:
            if name not in self._running:
                self._start(name)
                continue
            process, started_at = self._running[name]
            if not process.is_alive() and time.monotonic() - started_at >= LEAST_LIFETIME:
                if process.exitcode:
                    log.error("process ended", process=name, pid=process.pid, status=process.exitcode)
                self._start(name)

    def _start(self, name: str) -> None:
        process = get_context("fork").Process(target=partial(_serve, self._works[name]), name=name)
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)  # the child takes them once its own handlers are there
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
        self._running[name] = (process, time.monotonic())

    def ask_to_stop(self) -> None:
        """Let them finish their work in flight, or give it back."""
        for process in self._alive():
            process.terminate()

    def end(self) -> None:
        """Wait for their end; kill those that take longer than PATIENCE."""
        self.ask_to_stop()
        deadline = time.monotonic() + PATIENCE
        for process in self._alive():
            process.join(max(0.0, deadline - time.monotonic()))
        for process in self._alive():
            log.error("process killed: it did not end in time", process=process.name, pid=process.pid)
            process.kill()
            process.join()

    def _alive(self) -> list[ForkProcess]:
        return [process for process, _ in self._running.values() if process.is_alive()]


def _serve(work: Callable[[], object]) -> None:
    """Work until the lifetime is over or a stop is requested; the database may be away meanwhile."""
    STOPPING.detach()  # asked by a signal of its own, it doesn't stop the others
    for number in _STOPS:
        signal.signal(number, _stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
    start_tracing()
    try:
        with no_tenant():
            work()
    finally:
        stop_tracing()


def _together(works: Sequence[Callable[[], object]]) -> None:
    """Do several works in threads; when one ends, so do the others."""
    with ThreadPoolExecutor(len(works)) as threads:
        running = [threads.submit(contextvars.copy_context().run, work) for work in works]
        wait(running, return_when=FIRST_COMPLETED)
        STOPPING.set()
    for each in running:
        each.result()


def _stop(number: int, frame: object) -> None:
    STOPPING.set()
