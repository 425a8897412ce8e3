"""Signals for work to stop: a flag that all workers of a cluster share, and a deadline."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Protocol


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


class StopFlag:
    """A flag in memory that a process shares with its forked children.

    It has no lock, unlike multiprocessing.Event, whose lock can't be taken safely in a signal handler, nor after a
    waiting process was killed.
    """

    def __init__(self) -> None:
        self._flag = get_context("fork").RawValue("b", 0)

    def detach(self) -> None:
        """Be a flag of this process alone from now on, which is not set."""
        self._flag = get_context("fork").RawValue("b", 0)

    def set(self) -> None:
        """Request a stop."""
        self._flag.value = 1

    def clear(self) -> None:
        """Clear the flag, for the next run in the same process."""
        self._flag.value = 0

    def is_set(self) -> bool:
        """Return True after `set`."""
        return bool(self._flag.value)


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
