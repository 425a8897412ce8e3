"""Read the body of a request within limits of size and time, on the event loop."""

import asyncio
from dataclasses import dataclass, field

from memplatform.serving.protocol import Exchange, Scope

_CREDENTIALS = ("authorization", "x-api-key", "cookie")


class BodyTooLarge(Exception):
    """The body exceeds the limit for this caller."""


class BodyTimeout(Exception):
    """The body did not arrive in time."""


class BodyIncomplete(Exception):
    """The connection ended before the body did, or its length is not a number."""


@dataclass(frozen=True)
class BodyLimits:
    """How much is read, in bytes, and for how long.

    A body has `seconds` and one second more for each `bytes_per_second`, so that a slow sender can't hold a connection.
    Up to `small` bytes are read from any number of callers; of larger bodies a process reads `large_at_once`, so that
    memory is bounded. Requests without any credentials must be small.
    """

    largest: int
    small: int = 128 * 1024
    seconds: float = 5.0
    bytes_per_second: int = 256 * 1024
    large_at_once: int = 16

    def size_for(self, scope: Scope) -> int:
        """Return how many bytes a request may have."""
        headers = scope.headers  # made anew each time it is asked for
        is_anonymous = not any(header in headers for header in _CREDENTIALS)
        return min(self.small, self.largest) if is_anonymous else self.largest

    def seconds_for(self, size: int) -> float:
        """Return within how many seconds a body of this size has to arrive."""
        return self.seconds + size / self.bytes_per_second


@dataclass
class BodyReader:
    """Reads bodies for one event loop."""

    limits: BodyLimits
    _large: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        """Make the permits for large bodies."""
        self._large = asyncio.Semaphore(self.limits.large_at_once)

    async def read(self, scope: Scope, exchange: Exchange) -> bytes:
        """Return the whole body. Raises BodyTooLarge, BodyTimeout, BodyIncomplete."""
        declared = _declared_length(scope)
        if declared == 0:
            return b""
        most = self.limits.size_for(scope)
        if declared is not None and declared > most:
            raise BodyTooLarge
        expected = most if declared is None else declared
        try:
            async with asyncio.timeout(self.limits.seconds_for(expected)):
                if expected <= self.limits.small:
                    return await _received(exchange, declared, most)
                async with self._large:
                    return await _received(exchange, declared, most)
        except TimeoutError as error:
            raise BodyTimeout from error


def _declared_length(scope: Scope) -> int | None:
    """Return the Content-Length; None if a body is sent in chunks. Raises BodyIncomplete."""
    text = scope.headers.get("content-length")
    if text is None:
        return None if "transfer-encoding" in scope.headers else 0
    if not (text.isascii() and text.isdecimal()):
        raise BodyIncomplete
    return int(text[:20])


async def _received(exchange: Exchange, declared: int | None, most: int) -> bytes:
    if declared is not None:
        body = await exchange()  # the server ends it at its Content-Length
        if len(body) != declared:
            raise BodyIncomplete
        return body
    parts = bytearray()
    async for part in exchange:
        parts += part
        if len(parts) > most:
            raise BodyTooLarge
    return bytes(parts)
