"""Run a WSGI application in threads."""

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from apps.providers.cpu_permits import CpuPermits, permit_returned
from memplatform.serving.protocol import Exchange

Environ = dict[str, Any]

# So a few slow requests, such as pages with long queries, hold up others only for a moment.
PATIENCE_SECONDS = 0.1
WsgiApplication = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]


class ThreadedApplication:
    """A WSGI application whose requests are awaited.

    Of `threads` threads, `at_once` compute at the same time, first come, first served; the others wait, for a model
    or until their caller takes what is sent to it.
    """

    def __init__(self, application: WsgiApplication, *, threads: int, at_once: int, name: str = "request") -> None:
        self._application = application
        self._permits = CpuPermits(at_once, patience=PATIENCE_SECONDS)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)

    async def answer(self, exchange: Exchange, environ: Environ) -> Any:
        """Send the answer, or return the continuation of a response without sending it (apps/api/continuations.py)."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._answer, exchange, environ)

    def stop(self) -> None:
        """Finish the requests that are being answered."""
        self._threads.shutdown(wait=True)

    def _answer(self, exchange: Exchange, environ: Environ) -> Any:
        with self._permits.held():
            return self._answer_now(exchange, environ)

    def _answer_now(self, exchange: Exchange, environ: Environ) -> Any:
        start = _ResponseStart()
        parts = self._application(environ, start)
        try:
            if (continuation := getattr(parts, "continuation", None)) is not None:
                return continuation
            if getattr(parts, "streaming", False):
                _send_parts(exchange, start, parts)
            else:
                exchange.response_bytes(start.status, start.headers, b"".join(parts))
            return None
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
        with permit_returned():
            transport.send_bytes(part)
