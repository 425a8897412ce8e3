"""Threads that work for end users, and that nobody waits for when their process has to end."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue


@dataclass(slots=True)
class ThreadPool:
    """Up to `size` daemon threads that take one piece of work after the other.

    The standard library's executor joins its threads when a process ends: with a model that takes a minute to answer,
    a worker that was told to stop took a minute and a half.
    """

    size: int
    _begun: int = 0
    _pieces: "SimpleQueue[Callable[[], None] | None]" = field(default_factory=SimpleQueue)

    def submit(self, do: Callable[[], int]) -> Future[int]:
        """Have a piece of work done; the future has its result, or what it raised."""
        future: Future[int] = Future()
        self._pieces.put(lambda: _fulfil(future, do))
        if self._begun < self.size:
            self._begun += 1
            threading.Thread(target=self._work, name=f"work-{self._begun}", daemon=True).start()
        return future

    def dismiss(self) -> None:
        """Let each thread end after what it does now."""
        for _ in range(self._begun):
            self._pieces.put(None)

    def _work(self) -> None:
        while piece := self._pieces.get():
            piece()


def _fulfil(future: Future[int], do: Callable[[], int]) -> None:
    try:
        future.set_result(do())
    except Exception as error:  # noqa: BLE001  (whoever collects the result is told)
        future.set_exception(error)
