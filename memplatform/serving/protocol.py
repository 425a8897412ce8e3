"""The part of RSGI, the interface of the web server, that this package uses."""

from collections.abc import AsyncIterator, Awaitable, Iterator
from typing import Protocol


class Headers(Protocol):
    """The headers of a request; names are in lower case, values that are not ASCII are left out."""

    def get(self, key: str, default: str | None = None) -> str | None:
        """Return the first value of a header."""

    def items(self) -> list[tuple[str, str]]:
        """Return all headers, one pair for each value."""

    def __contains__(self, key: str) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...


class Scope(Protocol):
    """A request without its body."""

    http_version: str
    server: str
    client: str
    scheme: str
    method: str
    path: str
    query_string: str
    authority: str | None
    headers: Headers


class Transport(Protocol):
    """The way to send a body in parts; it never waits."""

    def send_bytes(self, data: bytes) -> Awaitable[None]:
        """Send a part."""


class Exchange(Protocol):
    """The way to read a request's body and to answer; it may be used from any thread."""

    def __call__(self) -> Awaitable[bytes]:
        """Return the whole body."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Return the parts of the body."""

    def client_disconnect(self) -> Awaitable[None]:
        """Return when the caller has gone."""

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        """Send an answer."""

    def response_file(self, status: int, headers: list[tuple[str, str]], file: str) -> None:
        """Send what a file holds, at the pace at which the caller reads; its size is not asked for."""

    def response_stream(self, status: int, headers: list[tuple[str, str]]) -> Transport:
        """Begin an answer that is sent in parts."""
