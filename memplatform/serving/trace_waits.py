"""Wait for traces on the event loop: one query asks for all that callers of the process wait for."""

import asyncio
import logging
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor

from apps.actions.traces.awaited_trace import AwaitedTrace

_log = logging.getLogger(__name__)

POLL_SECONDS = 0.1
Reached = Callable[[AbstractSet[AwaitedTrace]], AbstractSet[AwaitedTrace]]


class TraceWaits:
    """The requests of a process that wait, at most so many at once.

    `reached` returns which of some traces have come as far as is asked for. It is called in a thread of its own, and
    only while somebody waits.
    """

    def __init__(self, reached: Reached, *, at_most: int) -> None:
        self._reached = reached
        self._at_most = at_most
        self._waiting: dict[asyncio.Event, AwaitedTrace] = {}
        self._polling: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="trace-waits")

    async def wait(self, awaited: AwaitedTrace, *, seconds: float) -> None:
        """Return when the trace has come as far, when the time is up, or at once if too many wait already."""
        if len(self._waiting) >= self._at_most:
            return
        end = asyncio.Event()
        self._waiting[end] = awaited
        if self._polling is None or self._polling.done():
            self._polling = asyncio.create_task(self._poll())
        try:
            async with asyncio.timeout(seconds):
                await end.wait()
        except TimeoutError:
            pass
        finally:
            del self._waiting[end]

    def stop(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False)

    async def _poll(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            await asyncio.sleep(POLL_SECONDS)
            try:
                reached = await loop.run_in_executor(self._thread, self._reached, set(self._waiting.values()))
            except Exception:  # noqa: BLE001  (of the database; who waits goes on, until the time is up)
                _log.exception("asking for the state of traces failed")
                continue
            for end, awaited in self._waiting.items():
                if awaited in reached:
                    end.set()
