"""Read what callers of a server process wait for who follow the events of projects: as text of server-sent events."""

from collections.abc import Set as AbstractSet

import msgspec

from apps.actions.webhooks.event_messages import event_messages
from apps.events.reading import events_after, last_numbers, reached
from apps.events.streams import StreamPart, StreamPosition
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope

AT_ONCE = 100  # events of one stream in one answer


def read_streams(positions: AbstractSet[StreamPosition]) -> dict[StreamPosition, StreamPart]:
    """Return the next part of each stream whose project has newer events.

    One query asks for all streams whether there is anything; who has all of it costs no other.
    """
    with system_scope(SystemWork.WAITING_CALLERS):
        last = last_numbers(project_ids={each.project_id for each in positions})
    behind = [each for each in positions if last.get(each.project_id, 0) > each.after]
    return {each: _next_part(each, last=last[each.project_id]) for each in behind}


def _next_part(position: StreamPosition, *, last: int) -> StreamPart:
    with tenant_scope(project_id=position.project_id):
        events = events_after(project_id=position.project_id, after=position.after, types=position.types, limit=AT_ONCE)
        messages = event_messages(events, includes_content=position.includes_content)
    text = b"".join(_frame(each["number"], each["type"], msgspec.json.encode(each)) for each in messages)
    return StreamPart(text=text, last=reached(events, limit=AT_ONCE, after=position.after, last=last))


def _frame(number: int, type_: str, data: bytes) -> bytes:
    """Return one event as https://html.spec.whatwg.org/multipage/server-sent-events.html has it."""
    return f"id: {number}\nevent: {type_}\ndata: ".encode() + data + b"\n\n"
