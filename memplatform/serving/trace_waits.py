"""Wait for the end of traces on the event loop: one query asks for all that callers of the process wait for."""

import asyncio
import logging
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

_log = logging.getLogger(__name__)

POLL_SECONDS = 0.1


class TraceWaits:
    """The requests of a process that wait, at most so many at once.

    `ended` returns which of some traces have ended. It is called in a thread of its own, and only while somebody waits.
    """

    def __init__(self, ended: Callable[[AbstractSet[UUID]], AbstractSet[UUID]], *, at_most: int) -> None:
        self._ended = ended
        self._at_most = at_most
        self._waiting: dict[asyncio.Event, UUID] = {}
        self._polling: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="trace-waits")

    async def wait(self, trace_id: UUID, *, seconds: float) -> None:
        """Return when the trace has ended, when the time is up, or at once if too many wait already."""
        if len(self._waiting) >= self._at_most:
            return
        end = asyncio.Event()
        self._waiting[end] = trace_id
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
                ended = await loop.run_in_executor(self._thread, self._ended, set(self._waiting.values()))
            except Exception:  # noqa: BLE001  (of the database; who waits goes on, until the time is up)
                _log.exception("asking for the end of traces failed")
                continue
            for end, trace_id in self._waiting.items():
                if trace_id in ended:
                    end.set()
