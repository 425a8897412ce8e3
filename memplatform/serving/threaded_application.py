"""Run a WSGI application in threads."""

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any

from django.db import close_old_connections

from apps.providers.cpu_permits import CpuPermits
from memplatform.serving.long_answers import LongAnswer, in_blocks, send_long_answer
from memplatform.serving.protocol import Exchange

Environ = dict[str, Any]

# So a few slow requests, such as pages with long queries, hold up others only for a moment.
PATIENCE_SECONDS = 0.1
WsgiApplication = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]


class ThreadedApplication:
    """A WSGI application whose requests are awaited.

    Of `threads` threads, `at_once` compute at the same time, first come, first served; the others wait for a model or
    for their turn.
    """

    def __init__(self, application: WsgiApplication, *, threads: int, at_once: int, name: str = "request") -> None:
        self._application = application
        self._permits = CpuPermits(at_once, patience=PATIENCE_SECONDS)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)

    async def answer(self, exchange: Exchange, environ: Environ) -> Any:
        """Send the answer, or return the continuation of a response without sending it (apps/api/continuations.py)."""
        outcome = await asyncio.get_running_loop().run_in_executor(self._threads, self._answer, exchange, environ)
        if isinstance(outcome, LongAnswer):
            return await send_long_answer(outcome, exchange, threads=self._threads)
        return outcome

    def stop(self) -> None:
        """Finish the requests that are being answered."""
        self._threads.shutdown(wait=True)

    def _answer(self, exchange: Exchange, environ: Environ) -> Any:
        """Return None after the answer was sent, or else a continuation or what is to be sent."""
        with self._permits.held():
            return self._answer_now(exchange, environ)

    def _answer_now(self, exchange: Exchange, environ: Environ) -> Any:
        start = _ResponseStart()
        parts = self._application(environ, start)
        close = getattr(parts, "close", lambda: None)
        outcome = None
        try:
            if (continuation := getattr(parts, "continuation", None)) is not None:
                outcome = continuation
            elif getattr(parts, "streaming", False):
                outcome = _begun(exchange, start, parts, close)
            else:
                exchange.response_bytes(start.status, start.headers, b"".join(parts))
            return outcome
        finally:
            if isinstance(outcome, LongAnswer):
                close_old_connections()  # other threads make the next blocks
            else:
                close()


class _ResponseStart:
    """What an application passes to `start_response`."""

    status = 500
    headers: list[tuple[str, str]] = []

    def __call__(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
        self.status = int(status.split(" ", 1)[0])
        self.headers = headers


def _begun(
    exchange: Exchange, start: _ResponseStart, parts: Iterable[bytes], close: Callable[[], None]
) -> LongAnswer | None:
    """Send an answer of a single block; return a longer one."""
    blocks = in_blocks(parts)
    first, second = next(blocks, b""), next(blocks, None)
    if second is None:
        exchange.response_bytes(start.status, start.headers, first)
        return None
    return LongAnswer(start.status, start.headers, chain((first, second), blocks), close)
