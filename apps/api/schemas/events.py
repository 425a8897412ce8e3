"""Schemas of /v1/events."""

from typing import Annotated, Any

from msgspec import Meta

from apps.api.schemas.common import Limit, Moment, QueryParameters, RequestBody, ResponseBody
from apps.pipeline.core.enums import EventType

EventNumber = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class EventsQuery(QueryParameters):
    """Which events to read: those with a higher number than `after`, of some types or, without `type`, of all."""

    after: EventNumber = 0
    type: tuple[EventType, ...] = ()
    includes_content: bool = False
    limit: Limit = 100


class EventStreamQuery(QueryParameters):
    """Which events to follow; without `after` and `Last-Event-ID` those that happen from now on."""

    after: EventNumber | None = None
    type: tuple[EventType, ...] = ()
    includes_content: bool = False


class EventResponse(ResponseBody):
    """An event. `id` is the same in every delivery of it; `number` counts the events of the project from 1.

    `data` holds identifiers, states and numbers; with `includes_content` also the sentence of a memory that is active
    and told to all agents.
    """

    id: str
    number: int
    type: EventType
    timestamp: Moment
    data: dict[str, Any]


class EventList(ResponseBody):
    """Events, oldest first. Read on with `after` = `next_after`; `last_number` is that of the project's last event."""

    results: list[EventResponse]
    next_after: int
    last_number: int


class EventLogBody(RequestBody):
    """Whether the events of the project are recorded."""

    is_on: bool


class EventLogResponse(ResponseBody):
    """Whether the events of the project are recorded, and the number of the last one."""

    is_on: bool
    last_number: int
