"""What the web server does with a response before it answers: it needs no thread while it waits.

A view sets one of these as `continuation` of its response. Without the web server, as in tests, it has no effect.
"""

from dataclasses import dataclass

from django.http import HttpRequest

from apps.actions.traces.awaited_trace import AwaitedTrace
from apps.events.streams import StreamPosition

# Set in the WSGI environment of a request that is run again, and of one that is part of another.
HAS_WAITED = "memplatform.has_waited"
IS_PART = "memplatform.is_part"


@dataclass(frozen=True, slots=True)
class TraceWait:
    """Run the request again when a trace has come as far as is asked for, or after so many seconds."""

    awaited: AwaitedTrace
    seconds: int


@dataclass(frozen=True, slots=True)
class EventStream:
    """Send events on from a position, until the caller goes or the stream is old enough."""

    position: StreamPosition


@dataclass(frozen=True, slots=True)
class McpMessage:
    """Let the MCP server answer; the caller was checked."""


def is_counted(request: HttpRequest) -> bool:
    """Return True if the request was counted against the limits of its caller before."""
    return bool(request.META.get(HAS_WAITED) or request.META.get(IS_PART))


def has_waited(request: HttpRequest) -> bool:
    """Return True if a request is run again after it has waited."""
    return bool(request.META.get(HAS_WAITED))
