"""Serve a WSGI application: read each request on the event loop, then answer it in one of a few threads.

A thread is taken only for a request that has arrived in full. Reading happens on the event loop, where thousands of
slow senders cost a little memory each and nobody has to wait for them.
"""

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from memplatform.serving.protocol import Exchange, Scope
from memplatform.serving.request_body import BodyIncomplete, BodyLimits, BodyReader, BodyTimeout, BodyTooLarge
from memplatform.serving.wsgi_environ import wsgi_environ

WsgiApplication = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
# Answers a request that was not read: (status, headers, body), from its path and what went wrong.
Refusal = Callable[[str, Exception], tuple[int, list[tuple[str, str]], bytes]]

LIVENESS_PATH, LIVE = "/healthz", b'{"status":"ok"}'
MONITORING_PATHS = frozenset({"/readyz", "/metrics"})
_ENDS_CONNECTION = ("connection", "close")  # the rest of an unread body would pass for the next request


class BufferedApplication:
    """A WSGI application as an RSGI one."""

    def __init__(self, application: WsgiApplication, *, threads: int, limits: BodyLimits, refuse: Refusal) -> None:
        self._application = application
        self._refuse = refuse
        self._bodies = BodyReader(limits)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="request")
        self._monitoring = ThreadPoolExecutor(1, thread_name_prefix="monitoring")

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
            status, headers, content = self._refuse(scope.path, error)
            exchange.response_bytes(status, [*headers, _ENDS_CONNECTION], content)
            return
        threads = self._monitoring if scope.path in MONITORING_PATHS else self._threads
        await asyncio.get_running_loop().run_in_executor(threads, self._answer, scope, exchange, body)

    def __rsgi_del__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Finish the requests that are being answered, when the process ends."""
        self._threads.shutdown(wait=True)
        self._monitoring.shutdown(wait=True)

    def _answer(self, scope: Scope, exchange: Exchange, body: bytes) -> None:
        start = _ResponseStart()
        parts = self._application(wsgi_environ(scope, body), start)
        try:
            if getattr(parts, "streaming", False):
                _send_parts(exchange, start, parts)
            else:
                exchange.response_bytes(start.status, start.headers, b"".join(parts))
        finally:
            if close := getattr(parts, "close", None):
                close()


class _ResponseStart:
    """What an application passes to `start_response`."""

    status = 500
    headers: list[tuple[str, str]] = []

    def __call__(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
        self.status = int(status.split(" ", 1)[0])
        self.headers = headers


def _send_parts(exchange: Exchange, start: _ResponseStart, parts: Iterable[bytes]) -> None:
    transport = exchange.response_stream(start.status, start.headers)
    for part in parts:
        transport.send_bytes(part)
