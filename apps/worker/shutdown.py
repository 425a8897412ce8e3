"""What tells work to stop: one flag for every worker of a cluster, or a moment."""

import time
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Protocol


class StopSignal(Protocol):
    """Asked between two pieces of work."""

    def is_set(self) -> bool:
        """Tell whether it is time to stop."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment of the monotonic clock, in seconds, after which nothing more is begun."""

    at: float

    def is_set(self) -> bool:
        """Tell whether it is time to stop."""
        return time.monotonic() >= self.at


class StopFlag:
    """A flag in memory that a process shares with all it forks.

    It has no lock: an Event's is not safe to set from a signal handler, nor after a process that waits was killed.
    """

    def __init__(self) -> None:
        self._flag = get_context("fork").RawValue("b", 0)

    def set(self) -> None:
        """Say that it is time to stop."""
        self._flag.value = 1

    def clear(self) -> None:
        """Take it back, for the next run in the same process."""
        self._flag.value = 0

    def is_set(self) -> bool:
        """Tell whether it is time to stop."""
        return bool(self._flag.value)


STOPPING = StopFlag()
