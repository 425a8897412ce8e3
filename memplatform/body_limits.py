"""Limits of size and time for the bodies of requests: ASGI servers have none."""

import asyncio
import re

from memplatform.asgi_types import Application, Event, Receive, Scope, Send

REFUSED = "memplatform.refused"  # in the scope of a request whose body was not read: the code of the problem
TOO_LARGE, TIMEOUT = "too_large", "request_timeout"

SMALL = 128 * 1024  # bytes that are read from any number of callers, with and without credentials
UPLOADS_AT_ONCE = 2  # files to import that a process reads at the same time
UPLOADS = re.compile(r"/v1/imports/[^/]+/file|/console/[^/]+/imports/(?:new|audit|audit/kept)/")
LARGE_AT_ONCE = 16  # larger bodies that a process reads at the same time, so that memory is bounded
BYTES_PER_SECOND = 256 * 1024  # at which a body has to arrive, after the first seconds
_CREDENTIALS = frozenset({b"authorization", b"x-api-key", b"cookie"})


class Disconnected(Exception):
    """The caller has gone before its body had arrived."""


class BodyLimits:
    """Reads each body in full before the application is called; refused requests reach it with a mark in their scope.

    A body may have `largest` bytes, or `largest_upload` if it is a file to import, and `seconds` to arrive and one more
    for each BYTES_PER_SECOND.
    """

    def __init__(self, application: Application, *, largest: int, largest_upload: int, seconds: float) -> None:
        self._application = application
        self._largest = largest
        self._largest_upload = largest_upload
        self._seconds = seconds
        self._large = asyncio.Semaphore(LARGE_AT_ONCE)
        self._uploads = asyncio.Semaphore(UPLOADS_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        headers = dict(scope["headers"]) if scope["type"] == "http" else {}
        if scope["type"] != "http" or not (b"transfer-encoding" in headers or int(headers.get(b"content-length", 0))):
            await self._application(scope, receive, send)
            return
        try:
            body, refused = await self._read(headers, receive, is_upload=bool(UPLOADS.fullmatch(scope["path"]))), ""
        except Disconnected:
            return
        except _TooLarge:
            body, refused = b"", TOO_LARGE
        except TimeoutError:
            body, refused = b"", TIMEOUT
        unread: list[Event] = [{"type": "http.request", "body": body, "more_body": False}]

        async def read_again() -> Event:
            if refused and not unread:
                await asyncio.Event().wait()  # what is left of the body is not read
            return unread.pop() if unread else await receive()

        await self._application({**scope, REFUSED: refused} if refused else scope, read_again, send)

    async def _read(self, headers: dict[bytes, bytes], receive: Receive, *, is_upload: bool) -> bytes:
        """Return the whole body. Raises Disconnected, TimeoutError and _TooLarge."""
        largest = self._largest_upload if is_upload else self._largest
        limit = largest if _CREDENTIALS & headers.keys() else min(SMALL, self._largest)
        expected = int(headers.get(b"content-length", limit))
        if expected > limit:
            raise _TooLarge
        async with asyncio.timeout(self._seconds + expected / BYTES_PER_SECOND):
            if expected <= SMALL:
                return await _received(receive, limit)
            async with self._uploads if expected > self._largest else self._large:
                return await _received(receive, limit)


class _TooLarge(Exception):
    pass


async def _received(receive: Receive, limit: int) -> bytes:
    body, is_complete = bytearray(), False
    while not is_complete:
        message = await receive()
        if message["type"] != "http.request":
            raise Disconnected
        body += message.get("body", b"")
        if len(body) > limit:
            raise _TooLarge
        is_complete = not message.get("more_body", False)
    return bytes(body)
