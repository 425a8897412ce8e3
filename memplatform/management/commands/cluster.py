"""Run the workers: processes that drain the outbox, and a django-q2 cluster for scheduled tasks."""

import gc
import os
import signal
import threading
import time
from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

import psutil
import structlog
from django.conf import settings
from django.core.management.base import BaseCommand
from django_q.brokers import get_broker
from django_q.cluster import Cluster

from apps.pipeline.extraction.plain import extractor  # noqa: F401  (see _preload)
from apps.providers import registry, wordllama
from apps.providers.entries import problem_with
from apps.worker import tasks  # noqa: F401  (see _preload)
from apps.worker.shutdown import STOPPING
from memplatform import embedded
from memplatform.parent_death import end_with_parent
from memplatform.work_processes import WorkProcesses

log = structlog.get_logger(__name__)

WATCH_SECONDS = 0.5
LEAST_PAUSE, MOST_PAUSE = 0.5, 30.0  # seconds before a task queue that has ended is started again, doubled each time
PATIENCE = 10.0  # seconds for a graceful shutdown, before the remaining processes are killed


class GracefulCluster(Cluster):
    """A cluster of django-q2 that asks its tasks to stop before it waits for them.

    A worker that is killed while it waits for a task leaves the lock of the task queue taken, so its replacement would
    wait for the lock forever. Therefore all processes end when one of them dies, and a new cluster is started.
    """

    is_stopping = False
    members: list[psutil.Process] = []  # the children of the sentinel

    def __init__(self, processes: WorkProcesses) -> None:
        self.processes = processes
        super().__init__()

    def sig_handler(self, signum: int, frame: object) -> None:
        """Ask for a shutdown, also while `start` waits for a sentinel, which may hang."""
        self.request_stop(signum, frame)
        self.start_event = None

    @staticmethod
    def request_stop(signum: int, frame: object) -> None:
        """Ask tasks to stop, and `watch` to end the other processes.

        It does not stop the sentinel directly: a signal to the whole process group kills the sentinel as well, and
        django-q2 would wait for its answer forever.
        """
        GracefulCluster.is_stopping = True
        STOPPING.set()

    def start(self) -> int:
        """Start the sentinel and its children; ignore what fails because a shutdown was requested.

        `sig_handler` may take the event away while it is looked at.
        """
        try:
            return int(super().start())
        except (RuntimeError, AttributeError):
            if GracefulCluster.is_stopping:
                return int(self.pid)
            raise

    def watch(self) -> None:
        """Keep the processes running until one of the processes of django-q2 dies or a shutdown is requested."""
        self.members = _children(self.sentinel.pid)
        while all(map(_is_alive, self.members)) and self.sentinel.is_alive():
            if GracefulCluster.is_stopping:
                self.processes.ask_to_stop()
                self._stop_gracefully()
                break
            self.processes.keep()
            time.sleep(WATCH_SECONDS)  # there is no notification when a grandchild exits

    def _stop_gracefully(self) -> None:
        """Let the sentinel stop its children, with a time limit: a hanging or dead sentinel never answers."""
        stopping = threading.Thread(target=self.stop, daemon=True)
        stopping.start()
        stopping.join(PATIENCE)

    def end(self) -> None:
        """Terminate the sentinel; the kernel then signals its children, and those that remain are killed."""
        if self.sentinel is None:
            return
        members = {*self.members, *_children(self.sentinel.pid)}
        if self.sentinel.is_alive():
            self.sentinel.terminate()
            self.sentinel.join(WATCH_SECONDS)
        if self.sentinel.is_alive():
            self.sentinel.kill()
        deadline = time.monotonic() + PATIENCE
        while any(_is_alive(member) for member in members) and time.monotonic() < deadline:
            time.sleep(WATCH_SECONDS)  # there is no notification when they exit
        for member in filter(_is_alive, members):
            with suppress(psutil.NoSuchProcess):
                member.kill()


class Command(BaseCommand):
    """Run a cluster until SIGTERM or Ctrl-C."""

    help = __doc__ or ""
    requires_system_checks: list[str] = []  # those of URLs load the API and the console, which workers do without

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add no arguments."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Keep processes and the task queue running until a shutdown is requested, whatever becomes of the other."""
        _preload()
        # A worker without a sentinel would wait for a task forever.
        os.register_at_fork(after_in_child=end_with_parent)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, GracefulCluster.request_stop)
        if settings.DATABASE_IS_EMBEDDED:
            embedded.keep_running(settings.EMBEDDED_DIR)
        processes = WorkProcesses(settings.CLUSTER_WORKERS, metrics_port=settings.CLUSTER_METRICS_PORT)
        try:
            self._run(processes)
        finally:
            processes.end()

    def _run(self, processes: WorkProcesses) -> None:
        pause = LEAST_PAUSE
        while not GracefulCluster.is_stopping:
            processes.keep()
            started = time.monotonic()
            _run_task_queue(processes)
            pause = LEAST_PAUSE if time.monotonic() - started > MOST_PAUSE else min(2 * pause, MOST_PAUSE)
            if not GracefulCluster.is_stopping:
                log.warning("task queue ended and is started again", seconds=pause)
            _keep_for(processes, seconds=pause)


def _run_task_queue(processes: WorkProcesses) -> None:
    """Run django-q2 until one of its processes dies, its broker fails or a shutdown is requested."""
    STOPPING.clear()
    cluster = GracefulCluster(processes)
    try:
        get_broker().ping()  # without this, each process of django-q2 reports a broker that is away by itself
        cluster.start()
        cluster.watch()
    except Exception as error:  # noqa: BLE001  (each broker raises errors of its own)
        log.error("task queue failed", error=type(error).__name__)
    finally:
        cluster.end()


def _keep_for(processes: WorkProcesses, *, seconds: float) -> None:
    until = time.monotonic() + seconds
    while not GracefulCluster.is_stopping and time.monotonic() < until:
        processes.keep()
        time.sleep(WATCH_SECONDS)  # there is no notification when a process exits


def _children(pid: int) -> list[psutil.Process]:
    try:
        return list(psutil.Process(pid).children())
    except psutil.NoSuchProcess:
        return []


def _preload() -> None:
    """Load models and SDKs before forking, so that the workers share their memory and start quickly.

    The tasks and the patterns are loaded by the imports above.
    """
    if settings.EMBEDDER == wordllama.NAME:
        wordllama.model()
    if settings.MODEL and not problem_with(settings.MODEL):
        registry.model()
    gc.collect()
    gc.freeze()  # otherwise the garbage collector writes to shared pages, which copies them into each process


def _is_alive(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
