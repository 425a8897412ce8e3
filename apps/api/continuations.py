"""What the web server does with a response before it answers: it needs no thread while it waits.

A view sets one of these as `continuation` of its response. Without the web server, as in tests, it has no effect.
"""

from dataclasses import dataclass
from uuid import UUID

from django.http import HttpRequest

HAS_WAITED = "memplatform.has_waited"  # in the WSGI environment of a request that is run again


@dataclass(frozen=True, slots=True)
class TraceWait:
    """Run the request again when a trace has ended, or after so many seconds."""

    trace_id: UUID
    seconds: int


def has_waited(request: HttpRequest) -> bool:
    """Return True if a request is run again after it has waited."""
    return bool(request.META.get(HAS_WAITED))
