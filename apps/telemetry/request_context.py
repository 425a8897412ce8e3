"""The request that this thread works on: its id, and its place in a distributed trace (W3C Trace Context)."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from apps.pipeline.core.identifiers import new_id

REQUEST_ID_HEADER = "X-Request-Id"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")
_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?=-|\Z)")


@dataclass(frozen=True, slots=True)
class RequestContext:
    """A request, or work that follows from one; empty: it has none."""

    request_id: str = ""
    traceparent: str = ""

    @property
    def trace_and_span(self) -> tuple[str, str]:
        """Return the ids of trace and span, in hexadecimal digits; empty ones without a distributed trace."""
        return (self.traceparent[3:35], self.traceparent[36:52])


_NOTHING = RequestContext()
_current: ContextVar[RequestContext] = ContextVar("request_context", default=_NOTHING)


def request_context() -> RequestContext:
    """Return what this thread works on."""
    return _current.get()


@contextmanager
def working_on(context: RequestContext) -> Iterator[None]:
    """Work on a request while the block runs."""
    token = _current.set(context)
    try:
        yield
    finally:
        _current.reset(token)


def request_id_of(given: str | None) -> str:
    """Return the id that a caller has given its request, or a new one if it gave none that can be logged."""
    if given is not None and _REQUEST_ID.fullmatch(given):
        return given
    return new_id().hex


def traceparent_of(given: str | None) -> str:
    """Return a header `traceparent` in the form of version 00 (55 characters), empty if it is not valid."""
    found = _TRACEPARENT.match(given) if given else None
    return f"00{found.group()[2:]}" if found else ""
