"""Send events to callers that follow them, on the event loop: one query asks for all that a process serves.

A stream holds no thread and no database connection while nothing happens.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from uuid import UUID

from apps.events.streams import StreamPart, StreamPosition
from memplatform.serving.protocol import Exchange, Transport
from memplatform.serving.stop_signals import call_on_stop

_log = logging.getLogger(__name__)

POLL_SECONDS = 0.25
MOST_BYTES = 8 * 1024 * 1024  # of one stream: what a slow caller has not taken yet is kept in the memory of the server
SEND_SECONDS = 10.0  # a caller that takes nothing for so long has gone
# Proxies must pass each event on at once.
HEADERS = [("content-type", "text/event-stream"), ("cache-control", "no-store"), ("x-accel-buffering", "no")]
HEARTBEAT = b": still here\n\n"

Read = Callable[[Mapping[int, StreamPosition]], dict[int, StreamPart]]


class TooManyStreams(Exception):
    """The process, or the project in it, has as many streams as it may."""


@dataclass(frozen=True)
class StreamLimits:
    """How many streams a process and each project in it may have, and for how long, in seconds.

    A stream ends after `lifetime`, so that a key that was revoked is found out when its caller connects again, and
    after `most_bytes`; its caller goes on from the last event that it has.
    """

    at_most: int
    of_project: int
    lifetime: float
    heartbeat: float = 15.0
    most_bytes: int = MOST_BYTES


@dataclass
class _Follower:
    """One caller: up to where it has the events, and what is to be sent next."""

    position: StreamPosition
    news: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: bytes = b""

    def take(self) -> bytes:
        """Return what is to be sent, at most once."""
        text, self.waiting = self.waiting, b""
        self.news.clear()
        return text


class EventStreams:
    """The streams of a process. `read` is called in a thread of its own, and only while somebody follows."""

    def __init__(self, read: Read, *, limits: StreamLimits) -> None:
        self._read = read
        self._limits = limits
        self._followers: dict[int, _Follower] = {}
        self._of_project: Counter[UUID] = Counter()
        self._polling: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="event-streams")
        self._is_stopped = False
        self._fails = False  # what was last asked of the database

    async def serve(self, position: StreamPosition, exchange: Exchange) -> None:
        """Send events until the caller goes or the lifetime is over. Raises TooManyStreams before anything is sent."""
        project = position.project_id
        if len(self._followers) >= self._limits.at_most or self._of_project[project] >= self._limits.of_project:
            raise TooManyStreams
        follower = _Follower(position)
        self._followers[id(follower)] = follower
        self._of_project[project] += 1
        self._begin()
        try:
            await self._send_until_gone(follower, exchange)
        finally:
            del self._followers[id(follower)]
            self._of_project[project] -= 1

    def stop(self) -> None:
        """End the thread."""
        self._is_stopped = True
        self._thread.shutdown(wait=False)

    def end_all(self) -> None:
        """End all streams, for which the server would wait; their callers connect to another process."""
        self._is_stopped = True
        for follower in self._followers.values():
            follower.news.set()

    def _begin(self) -> None:
        """Ask for events from now on, and prepare for the end of the process when the first caller comes."""
        loop = asyncio.get_running_loop()
        if self._polling is None:
            call_on_stop(partial(loop.call_soon_threadsafe, self.end_all))
        if self._polling is None or self._polling.done():
            self._polling = loop.create_task(self._poll())

    async def _send_until_gone(self, follower: _Follower, exchange: Exchange) -> None:
        transport = exchange.response_stream(200, HEADERS)
        gone = asyncio.ensure_future(exchange.client_disconnect())
        until = time.monotonic() + self._limits.lifetime
        left = self._limits.most_bytes
        try:
            await _send(transport, HEARTBEAT)  # the caller knows at once that it is connected
            while left > 0 and time.monotonic() < until and not gone.done() and not self._is_stopped:
                news = asyncio.ensure_future(follower.news.wait())
                await asyncio.wait(
                    {news, gone},
                    timeout=min(self._limits.heartbeat, until - time.monotonic()),
                    return_when=asyncio.FIRST_COMPLETED,
                )
                news.cancel()
                if not gone.done() and not self._is_stopped:
                    text = follower.take() or HEARTBEAT
                    left -= len(text)
                    await _send(transport, text)
        except (TimeoutError, RuntimeError):  # takes nothing any more, or the server has closed the connection
            pass
        finally:
            gone.cancel()

    async def _poll(self) -> None:
        loop = asyncio.get_running_loop()
        while self._followers and not self._is_stopped:
            await asyncio.sleep(POLL_SECONDS)
            # Who has not taken what was read gets no more, so that a slow caller costs no memory.
            ready = {key: each.position for key, each in self._followers.items() if not each.news.is_set()}
            if not ready:
                continue
            for key, part in (await loop.run_in_executor(self._thread, self._parts, ready)).items():
                self._pass_on(key, part)

    def _parts(self, ready: Mapping[int, StreamPosition]) -> dict[int, StreamPart]:
        """Read what is next; tell of the first failure, and of the first success after failures."""
        try:
            parts = self._read(ready)
        except Exception:  # noqa: BLE001  (of the database; who follows goes on, once it is back)
            if not self._fails:
                _log.exception("reading events failed; who follows them waits until it succeeds")
            self._fails = True
            return {}
        if self._fails:
            _log.warning("events are read again")
        self._fails = False
        return parts

    def _pass_on(self, key: int, part: StreamPart) -> None:
        follower = self._followers.get(key)
        if follower is None:
            return
        follower.position = replace(follower.position, after=part.last)
        if part.text:
            follower.waiting = part.text
            follower.news.set()


async def _send(transport: Transport, data: bytes) -> None:
    async with asyncio.timeout(SEND_SECONDS):
        await transport.send_bytes(data)
