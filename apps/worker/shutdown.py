"""Signals for work to stop: a flag, and a deadline."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from django_q.conf import Conf
from django_q.status import Stat


class StopSignal(Protocol):
    """Checked between two pieces of work."""

    def is_set(self) -> bool:
        """Return True when work must stop."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A time of the monotonic clock, in seconds, after which no more work is started."""

    at: float

    def is_set(self) -> bool:
        """Return True once the deadline has passed."""
        return time.monotonic() >= self.at


class OutOfTime(Exception):
    """The caller's time is up and the work is left to the workers; this is no failure of the model."""


class StopFlag:
    """A flag of this process, without a lock: a signal handler sets it, which must not wait for one."""

    def __init__(self) -> None:
        self._is_set = False

    def set(self) -> None:
        """Request a stop."""
        self._is_set = True

    def clear(self) -> None:
        """Clear the flag, for the next run in the same process."""
        self._is_set = False

    def is_set(self) -> bool:
        """Return True after `set`."""
        return self._is_set


STOPPING = StopFlag()


@contextmanager
def stopping_on_signals() -> Iterator[None]:
    """Set the stop flag on SIGTERM and SIGINT while the block runs; raise a received SIGTERM again afterwards."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []

    def stop(number: int, _: object) -> None:
        received.append(number)
        STOPPING.set()

    former = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
    if signal.SIGTERM in received:
        signal.raise_signal(signal.SIGTERM)


def is_cluster_stopping() -> bool:
    """Return True if the cluster of django-q2 to which this worker belongs is stopping.

    Its workers get no signal; the sentinel, their parent, stores its state in the cache.
    """
    return any(stat.sentinel == os.getppid() and stat.status == Conf.STOPPING for stat in Stat.get_all())
