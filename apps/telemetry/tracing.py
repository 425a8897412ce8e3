"""Distributed traces: spans around what a request leads to, in this process and later in workers.

Without an exporter nothing is measured or kept, and the SDK is not loaded (apps/telemetry/otlp.py); what a caller sent
as `traceparent` is still passed on, so that log lines of all processes name its trace.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from enum import StrEnum
from typing import Protocol

from apps.telemetry.request_context import request_context, working_on

AttributeValue = str | int | float | bool | Sequence[str]


class SpanKind(StrEnum):
    """The part that a span plays, in the words of OpenTelemetry."""

    SERVER = "server"
    CLIENT = "client"
    CONSUMER = "consumer"
    INTERNAL = "internal"


class OpenSpan(Protocol):
    """A span that has begun. Its attributes never hold what people said, names of end users, or paths."""

    @property
    def is_recorded(self) -> bool:
        """Return False where attributes would be lost, and need not be made."""

    def set(self, attributes: Mapping[str, AttributeValue]) -> None:
        """Add attributes."""

    def rename(self, name: str) -> None:
        """Give it the name that is known only at its end."""

    def fail(self, kind: str) -> None:
        """Mark it as failed, with the kind of failure and no message."""


class SpanExporter(Protocol):
    """Keeps spans until they are sent."""

    def span(self, name: str, *, kind: SpanKind, parents: Sequence[str]) -> AbstractContextManager[OpenSpan]:
        """Open a span while the block runs."""


class _Unrecorded:
    """Stands for a span where none is recorded."""

    is_recorded = False

    def set(self, attributes: Mapping[str, AttributeValue]) -> None:
        """Keep nothing."""

    def rename(self, name: str) -> None:
        """Keep nothing."""

    def fail(self, kind: str) -> None:
        """Keep nothing."""


_NO_SPAN: AbstractContextManager[OpenSpan] = nullcontext(_Unrecorded())
_exporter: SpanExporter | None = None


def use_exporter(exporter: SpanExporter | None) -> None:
    """Record spans from now on, or none."""
    global _exporter
    _exporter = exporter


def is_recording() -> bool:
    """Return True if spans are recorded, so that it is worth while to look for their parents."""
    return _exporter is not None


def span(name: str, *, kind: SpanKind = SpanKind.INTERNAL) -> AbstractContextManager[OpenSpan]:
    """Open a span within the current one while the block runs; an error that leaves the block fails it."""
    return _NO_SPAN if _exporter is None else _exporter.span(name, kind=kind, parents=())


@contextmanager
def span_of_work(name: str, *, traceparents: Sequence[str]) -> Iterator[OpenSpan]:
    """Open a span of work that requests have led to: within the trace of the first, and linked with the others."""
    parents = tuple(dict.fromkeys(filter(None, traceparents)))
    if _exporter is not None:
        with _exporter.span(name, kind=SpanKind.CONSUMER, parents=parents) as opened:
            yield opened
        return
    with working_on(replace(request_context(), traceparent=parents[0] if parents else "")):
        yield _Unrecorded()
