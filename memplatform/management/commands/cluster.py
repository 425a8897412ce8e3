"""Run the workers: django-q2's cluster, which begins anew when one of its processes dies, and stops in good order."""

import ctypes
import gc
import os
import signal
import sys
import threading
import time
from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

import psutil
from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import connection
from django_q.cluster import Cluster

from apps.outbox.wake_workers import wake_workers
from apps.providers import registry, wordllama
from apps.providers.entries import problem_with
from apps.worker import tasks  # noqa: F401  (see _load_what_workers_share)
from apps.worker.shutdown import STOPPING

PR_SET_PDEATHSIG = 1  # linux/prctl.h
WATCH_SECONDS = 0.5
POKE_SECONDS = 15.0  # between two looks for workers that should drain and don't
PATIENCE = 10.0  # seconds to give back what is in hand, before what is left of a cluster is killed


class GracefulCluster(Cluster):
    """A cluster whose workers are told to stop before it waits for them, whoever else is told as well.

    A worker that is killed while it waits for a task keeps the lock of the queue of tasks, and those that django-q2
    starts in its place would wait for ever: when one process dies, all end, and another cluster begins.
    """

    is_asked_to_end = False
    members: list[psutil.Process] = []  # what the sentinel keeps

    def sig_handler(self, signum: int, frame: object) -> None:
        """Let drains finish or give back what they hold, and the watch end the rest.

        Not at once: whoever asks the whole group has the sentinel killed, and django-q2 would wait for its answer.
        """
        GracefulCluster.is_asked_to_end = True
        STOPPING.set()

    def start(self) -> int:
        """Start the sentinel and what it keeps; one that was killed because all were asked to end is no fault."""
        try:
            return int(super().start())
        except RuntimeError:
            if GracefulCluster.is_asked_to_end:
                return int(self.pid)
            raise

    def watch(self) -> None:
        """See that work is drained until one of the processes ends, or all are to."""
        self.members = _children(self.sentinel.pid)
        last_poke = float("-inf")
        while all(map(_lives, self.members)) and self.sentinel.is_alive():
            if GracefulCluster.is_asked_to_end:
                self._stop_in_good_order()
                break
            if time.monotonic() - last_poke > POKE_SECONDS:
                last_poke = time.monotonic()
                wake_workers()
                connection.close()
            time.sleep(WATCH_SECONDS)  # the end of a child's child is told to nobody

    def _stop_in_good_order(self) -> None:
        """Let the sentinel end what it keeps, but not for ever: one that hangs, or dies meanwhile, never answers."""
        stopping = threading.Thread(target=self.stop, daemon=True)
        stopping.start()
        stopping.join(PATIENCE)

    def end(self) -> None:
        """End the sentinel, whatever has happened; its children are told by the system, and what is left is killed."""
        if self.sentinel is None:
            return
        members = {*self.members, *_children(self.sentinel.pid)}
        if self.sentinel.is_alive():
            self.sentinel.terminate()
            self.sentinel.join(WATCH_SECONDS)
        if self.sentinel.is_alive():
            self.sentinel.kill()
        deadline = time.monotonic() + PATIENCE
        while any(_lives(member) for member in members) and time.monotonic() < deadline:
            time.sleep(WATCH_SECONDS)  # no more is the end of these
        for member in filter(_lives, members):
            with suppress(psutil.NoSuchProcess):
                member.kill()


class Command(BaseCommand):
    """Run a cluster until SIGTERM or Ctrl-C."""

    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take nothing."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Start a cluster, and another whenever it ends without having been asked to."""
        _load_what_workers_share()
        os.register_at_fork(after_in_child=_end_with_parent)
        while self._goes_on():
            cluster = GracefulCluster()
            try:
                cluster.start()
                cluster.watch()
            finally:
                cluster.end()

    @staticmethod
    def _goes_on() -> bool:
        """Forget that workers were told to end, by their sentinel's death perhaps, unless all are to."""
        STOPPING.clear()
        return not GracefulCluster.is_asked_to_end


def _children(pid: int) -> list[psutil.Process]:
    try:
        return list(psutil.Process(pid).children())
    except psutil.NoSuchProcess:
        return []


def _load_what_workers_share() -> None:
    """Load before the processes part what all of them need: they share its memory then, and begin at once.

    The tasks are loaded by their import above.
    """
    if settings.EMBEDDER == wordllama.NAME:
        wordllama.model()
    if settings.MODEL and not problem_with(settings.MODEL):
        registry.model()
    gc.collect()
    gc.freeze()  # else the collector's marks would have each process copy what it shares


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _end_with_parent() -> None:
    """Ask Linux for a SIGTERM when the parent dies: a worker without its sentinel would wait for ever for a task."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
