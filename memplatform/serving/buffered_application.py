"""Serve a WSGI application: read each request on the event loop, then answer it in one of a few threads.

A thread is taken only for a request that has arrived in full. Reading happens on the event loop, where thousands of
slow senders cost a little memory each and nobody has to wait for them. Waiting for a trace happens there as well.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from apps.api.continuations import HAS_WAITED, EventStream, McpMessage, TraceWait
from memplatform.serving.event_streams import EventStreams, TooManyStreams
from memplatform.serving.protocol import Exchange, Scope
from memplatform.serving.request_body import BodyIncomplete, BodyLimits, BodyReader, BodyTimeout, BodyTooLarge
from memplatform.serving.threaded_application import Environ, ThreadedApplication, WsgiApplication
from memplatform.serving.trace_waits import TraceWaits
from memplatform.serving.wsgi_environ import wsgi_environ

# Answers a request whose body was not read: (status, headers, body), from what was read and what went wrong.
Refusal = Callable[[Scope, Exception], tuple[int, list[tuple[str, str]], bytes]]
NewEnviron = Callable[[], Environ]
# Answers a request by an application, as if it had been sent.
Answer = Callable[[NewEnviron, Exchange], Awaitable[None]]
# Answers an MCP message; its tools use the application.
McpAnswer = Callable[[Environ, Exchange, Answer], Awaitable[None]]

LIVENESS_PATH, LIVE = "/healthz", b'{"status":"ok"}'
MONITORING_PATHS = frozenset({"/readyz", "/metrics"})
_ENDS_CONNECTION = ("connection", "close")  # the rest of an unread body would pass for the next request


class BufferedApplication:
    """A WSGI application as an RSGI one."""

    def __init__(
        self,
        application: WsgiApplication,
        *,
        threads: int,
        at_once: int,
        limits: BodyLimits,
        refuse: Refusal,
        waits: TraceWaits,
        streams: EventStreams,
        no_stream: Callable[[], tuple[int, list[tuple[str, str]], bytes]],
        answer_mcp: McpAnswer,
        monitoring_host: str = "",
        on_stop: Callable[[], None] = lambda: None,
    ) -> None:
        self._application = ThreadedApplication(application, threads=threads, at_once=at_once)
        self._refuse = refuse
        self._bodies = BodyReader(limits)
        self._monitoring = ThreadedApplication(application, threads=1, at_once=1, name="monitoring")
        self._waits = waits
        self._streams = streams
        self._no_stream = no_stream
        self._answer_mcp = answer_mcp
        self._known_host = {"HTTP_HOST": monitoring_host} if monitoring_host else {}
        self._on_stop = on_stop

    async def __rsgi__(self, scope: Scope, exchange: Exchange) -> None:
        """Answer one request.

        Liveness is told by the event loop, so that a probe doesn't take a process with busy threads for a dead one; the
        other questions of monitoring have a thread of their own.
        """
        if scope.path == LIVENESS_PATH and scope.method in ("GET", "HEAD"):
            exchange.response_bytes(200, [("content-type", "application/json")], LIVE)
            return
        try:
            body = await self._bodies.read(scope, exchange)
        except (BodyTooLarge, BodyTimeout, BodyIncomplete) as error:
            status, headers, content = self._refuse(scope, error)
            exchange.response_bytes(status, [*headers, _ENDS_CONNECTION], content)
            return
        if scope.path in MONITORING_PATHS:
            # A monitor knows the address of this process, and perhaps none of the names that Django accepts.
            await self._monitoring.answer(exchange, {**wsgi_environ(scope, body), **self._known_host})
            return
        await self.answer(partial(wsgi_environ, scope, body), exchange)

    def __rsgi_del__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Finish the requests that are being answered, when the process ends."""
        self._application.stop()
        self._monitoring.stop()
        self._waits.stop()
        self._streams.stop()
        self._on_stop()

    async def answer(self, new_environ: NewEnviron, exchange: Exchange) -> None:
        """Answer a request that has arrived in full."""
        continuation = await self._application.answer(exchange, new_environ())
        if isinstance(continuation, TraceWait):
            await self._waits.wait(continuation.awaited, seconds=continuation.seconds)
            await self._application.answer(exchange, {**new_environ(), HAS_WAITED: True})
        if isinstance(continuation, EventStream):
            await self._follow(continuation, exchange)
        if isinstance(continuation, McpMessage):
            await self._answer_mcp(new_environ(), exchange, self.answer)

    async def _follow(self, stream: EventStream, exchange: Exchange) -> None:
        try:
            await self._streams.serve(stream.position, exchange)
        except TooManyStreams:
            exchange.response_bytes(*self._no_stream())
