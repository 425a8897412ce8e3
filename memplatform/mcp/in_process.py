"""Let the client package call the REST API of this process: the same requests as over the network, without one."""

import io
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import httpx2

from apps.api.continuations import IS_PART
from memplatform.serving.buffered_application import Answer
from memplatform.serving.protocol import Transport
from memplatform.serving.threaded_application import Environ

# What a request within another one takes over from it: who asks, and how they reached this server.
_TAKEN_OVER = (
    "HTTP_HOST",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_REQUEST_ID",
    "HTTP_TRACEPARENT",
)


class InProcessTransport(httpx2.AsyncBaseTransport):
    """Answers the requests of a client by an application, as parts of the request with this environment."""

    def __init__(self, answer: Answer, outer: Environ) -> None:
        self._answer = answer
        self._outer = outer

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the response of the application."""
        body = await request.aread()
        taken = _Answered()
        await self._answer(partial(_environ, request, body, self._outer), taken)
        return httpx2.Response(taken.status, headers=taken.headers, content=taken.body, request=request)


@dataclass
class _Answered:
    """Takes an answer instead of a connection; it is whole, as no tool asks for an export."""

    status: int = 500
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    def response_file(self, status: int, headers: list[tuple[str, str]], file: str) -> None:
        raise NotImplementedError("long answers are not taken")

    def response_stream(self, status: int, headers: list[tuple[str, str]]) -> Transport:
        raise NotImplementedError("answers in parts are not taken")

    async def client_disconnect(self) -> None:
        raise NotImplementedError("there is no connection")

    async def __call__(self) -> bytes:
        return b""

    def __aiter__(self) -> Any:
        raise NotImplementedError("the body was read before")


def _environ(request: httpx2.Request, body: bytes, outer: Environ) -> Environ:
    """Return the WSGI environment of a request within another one."""
    kept = {name: value for name, value in outer.items() if not name.startswith(("HTTP_", "CONTENT_"))}
    path, _, query = request.url.raw_path.decode("ascii").partition("?")
    headers = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in request.headers.items()}
    length = headers.pop("HTTP_CONTENT_LENGTH", str(len(body)))
    return {
        **kept,
        **headers,
        **{name: outer[name] for name in _TAKEN_OVER if name in outer},
        "REQUEST_METHOD": request.method,
        "PATH_INFO": httpx2.URL(path).path.encode().decode("latin-1"),
        "QUERY_STRING": query,
        "CONTENT_TYPE": headers.pop("HTTP_CONTENT_TYPE", ""),
        "CONTENT_LENGTH": length,
        "wsgi.input": io.BytesIO(body),
        IS_PART: True,
    }
