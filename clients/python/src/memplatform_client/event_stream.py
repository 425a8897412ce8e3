"""Read events from the lines of a stream (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

import json
from collections.abc import Sequence
from typing import Any, cast

from memplatform_client import models
from memplatform_client.calls import Call, Query

SILENCE_SECONDS = 60.0  # the server sends something every 15 seconds; after this the connection is lost
RECONNECT_SECONDS = 0.5  # after the server has ended a stream, as it does every few minutes
POLL_SECONDS = 2.0  # between two readings while the server has no stream to spare
NOW = 2**62  # a number that no event has: reading on from it tells that of the last one


class EventLines:
    """Collects the lines of one event at a time; comments, which only show that the stream lives, are passed over."""

    def __init__(self) -> None:
        self._data: list[str] = []

    def add(self, line: str) -> models.EventResponse | None:
        """Add a line without its end; return the event that it completes."""
        if line.startswith("data:"):
            self._data.append(line.removeprefix("data:").removeprefix(" "))
        if line or not self._data:
            return None
        event = json.loads("\n".join(self._data))
        self._data.clear()
        return cast(models.EventResponse, event)


def stream_call(*, after: int, types: Sequence[str], includes_content: bool) -> Call[Any]:
    """Return the request of a stream that goes on after an event."""
    headers = {"Accept": "text/event-stream"}
    return Call("GET", "/v1/events/stream", query=_query(after, types, includes_content), headers=headers)


def _query(after: int, types: Sequence[str], includes_content: bool) -> Query:
    """Return the parameters that name events."""
    query: dict[str, Any] = {"after": after}
    if types:
        query["types"] = list(types)
    if includes_content:
        query["includes_content"] = "true"
    return query
