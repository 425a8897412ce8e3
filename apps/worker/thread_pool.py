"""A thread pool whose threads do not delay the exit of their process."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue


@dataclass(slots=True)
class ThreadPool:
    """Up to `size` daemon threads that run submitted functions.

    concurrent.futures.ThreadPoolExecutor joins its threads at exit: with a model that takes a minute to answer, a
    worker took a minute and a half to stop.
    """

    size: int
    _started: int = 0
    _tasks: "SimpleQueue[Callable[[], None] | None]" = field(default_factory=SimpleQueue)

    def submit(self, do: Callable[[], int]) -> Future[int]:
        """Run a function in a thread; the future gets its result or its exception."""
        future: Future[int] = Future()
        self._tasks.put(lambda: _run_into(future, do))
        if self._started < self.size:
            self._started += 1
            threading.Thread(target=self._run_tasks, name=f"work-{self._started}", daemon=True).start()
        return future

    def dismiss(self) -> None:
        """Let each thread end after its current task, without waiting for it."""
        for _ in range(self._started):
            self._tasks.put(None)

    def _run_tasks(self) -> None:
        while task := self._tasks.get():
            task()


def _run_into(future: Future[int], do: Callable[[], int]) -> None:
    try:
        future.set_result(do())
    except Exception as error:  # noqa: BLE001  (re-raised by future.result())
        future.set_exception(error)
