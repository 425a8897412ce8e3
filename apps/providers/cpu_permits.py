"""CPU permits: many threads of a process wait for models or callers at the same time, but only a few of them compute.

Under the global interpreter lock, threads that compute at the same time only slow each other down.
"""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class _OfThread(threading.local):
    held: "CpuPermits | None" = None  # where the permit of this thread comes from


_of_thread = _OfThread()


class CpuPermits:
    """`count` permits to compute, which threads get in the order in which they ask.

    With `patience`, in seconds, a thread that has waited so long computes without a permit, so that a few slow
    threads don't hold up all others.
    """

    def __init__(self, count: int, *, patience: float | None = None) -> None:
        self._free = count
        self._patience = -1.0 if patience is None else patience
        self._lock = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()

    @property
    def free(self) -> int:
        """Return how many permits nobody holds."""
        return self._free

    @property
    def waiting(self) -> int:
        """Return how many threads wait for a permit."""
        return len(self._waiting)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for a permit and hold it while the block runs."""
        self._take()
        try:
            yield
        finally:
            self._give_back()

    @contextmanager
    def returned(self) -> Iterator[None]:
        """Return the permit while the block runs, then wait for one again."""
        self._give_back()
        try:
            yield
        finally:
            self._take()

    def _take(self) -> None:
        _of_thread.held = self if self._acquire() else None

    def _give_back(self) -> None:
        if _of_thread.held is self:
            _of_thread.held = None
            self._release()

    def _acquire(self) -> bool:
        """Return False if there was none within the patience."""
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            turn = threading.Lock()
            turn.acquire()
            self._waiting.append(turn)
        if turn.acquire(timeout=self._patience):
            return True
        with self._lock:
            if turn not in self._waiting:
                return True  # handed over at the last moment
            self._waiting.remove(turn)
            return False

    def _release(self) -> None:
        """Hand the permit over to the thread that has waited longest."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1


@contextmanager
def permit_returned() -> Iterator[None]:
    """Return the permit of this thread, if it has one, while the block waits for something else than a processor."""
    if (permits := _of_thread.held) is None:
        yield
        return
    with permits.returned():
        yield
