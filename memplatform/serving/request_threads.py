"""Threads whose results the event loop awaits.

They take a third of the instructions of asyncio's executors, which lead each result through two futures and a lock.
"""

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import ParamSpec, TypeVar

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


class RequestThreads:
    """A fixed number of threads, which take calls in their order; they start with the first call."""

    def __init__(self, count: int, *, name: str) -> None:
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads = [
            threading.Thread(target=self._work, name=f"{name}_{number}", daemon=True) for number in range(count)
        ]
        self._has_started = False

    async def run(self, call: Callable[_Given, _Result], *args: _Given.args, **options: _Given.kwargs) -> _Result:
        """Call something in a thread and return what it returns. Raises what it raises."""
        if not self._has_started:
            self._has_started = True
            for thread in self._threads:
                thread.start()
        loop = asyncio.get_running_loop()
        result: asyncio.Future[_Result] = loop.create_future()

        def settle() -> None:
            if result.cancelled():
                return
            try:
                returned = call(*args, **options)
            except BaseException as error:  # noqa: BLE001  (raised where the result is awaited)
                _tell(loop, _fail, result, error)
            else:
                _tell(loop, _succeed, result, returned)

        self._calls.put(settle)
        return await result

    def stop(self) -> None:
        """Finish the calls that were made, and end the threads."""
        if not self._has_started:
            return
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()
            del call  # so that a waiting thread keeps nothing of a request


def _tell(loop: asyncio.AbstractEventLoop, *call: object) -> None:
    """Let the event loop call something; nobody waits any more where it is closed."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(*call)  # type: ignore[arg-type]  # a function and its arguments


def _succeed(result: asyncio.Future[_Result], returned: _Result) -> None:
    if not result.done():  # cancelled: the caller has gone
        result.set_result(returned)


def _fail(result: asyncio.Future[_Result], error: BaseException) -> None:
    if not result.done():
        result.set_exception(error)
