"""Switch the recording of events, and read them on from a number: page by page, or for many streams at once."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec
from django.db import transaction

from apps.common.errors import Conflict
from apps.events.enums import EventType
from apps.events.models import EventLog, ProjectEvent, Webhook
from apps.memories.ledger.record import record
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.webhooks.messages import event_messages

AT_ONCE = 100  # events of one stream in one answer


def set_event_log(*, project_id: UUID, is_on: bool) -> EventLog:
    """Record events from now on, or none any more. Raises Conflict for switching off while there are webhooks."""
    with transaction.atomic():
        logs = EventLog.objects.select_for_update(no_key=True)
        log, _ = logs.get_or_create(project_id=project_id, defaults={"is_on": False})
        if not is_on and Webhook.objects.filter(project_id=project_id).exists():
            raise Conflict("the project has webhooks, which need its events")
        if log.is_on != is_on:
            log.is_on = is_on
            log.save(update_fields=["is_on"])
            verb = "events_switched_on" if is_on else "events_switched_off"
            record(project_id=project_id, verb=verb, object_kind="project", object_id=project_id)
    return log


@dataclass(frozen=True, slots=True)
class EventPosition:
    """What one caller reads, and the number of the last event that it has."""

    project_id: UUID
    after: int
    types: tuple[EventType, ...] = ()  # empty: all
    includes_content: bool = False


def read_on(position: EventPosition, *, limit: int, last: int) -> tuple[list[dict[str, Any]], int]:
    """Return the next events, and the number to read on from: up to it, there are no others.

    `last` is the project's last number as it was before they were read: more may have been numbered in between.
    """
    events = ProjectEvent.objects.filter(project_id=position.project_id, number__gt=position.after)
    if position.types:
        events = events.filter(type__in=position.types)
    found = list(events.order_by("number")[:limit])
    newest = (found[-1].number or 0) if found else 0
    reached = newest if len(found) >= limit else max(position.after, last, newest)
    return event_messages(found, includes_content=position.includes_content), reached


def read_streams(positions: AbstractSet[EventPosition]) -> dict[EventPosition, tuple[bytes, int]]:
    """Return the next part of each stream whose project has newer events, and the number to read on from.

    One query asks for all streams whether there is anything; who has all of it costs no other. A part is text as
    https://html.spec.whatwg.org/multipage/server-sent-events.html has it, empty for events of no wanted type.
    """
    with system_scope(SystemWork.WAITING_CALLERS):
        logs = EventLog.objects.filter(project_id__in={each.project_id for each in positions})
        last = dict(logs.values_list("project_id", "last_number"))
    parts = {}
    for position in positions:
        if last.get(position.project_id, 0) > position.after:
            with tenant_scope(project_id=position.project_id):
                messages, reached = read_on(position, limit=AT_ONCE, last=last[position.project_id])
            frames = (
                f"id: {each['number']}\nevent: {each['type']}\ndata: ".encode() + msgspec.json.encode(each)
                for each in messages
            )
            parts[position] = b"".join(each + b"\n\n" for each in frames), reached
    return parts
