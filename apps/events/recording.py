"""Record events in the transaction of the change that they tell of, where the project keeps events.

Whether events are kept is found out by the statement that records them, which writers send together with others: no
cache of that answer can be out of date.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.db import connection
from psycopg.types.json import Jsonb

from apps.pipeline.core.enums import EventType
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.events.of_plan import PlannedEvent

# Citus reads the log before the rest of a statement, for which it needs a column.
ARE_KEPT = "exists (select 1 from events_eventlog where project_id = %(project)s and is_on)"
COLUMNS = "event_id, project_id, end_user_id, type, trace_id, memory_id, details, created_at"

# Changes of memories; `%(events)s` are rows of `event_rows`. A memory has its new values already.
RECORD_MEMORY_EVENTS = f"""
insert into events_projectevent ({COLUMNS})
select told.event, %(project)s, %(end_user)s, told.type, %(trace)s, told.memory, jsonb_build_object(
        'verb', told.verb, 'other', told.other, 'memory_type', memory.type, 'status', memory.status,
        'version', memory.version, 'private_to', memory.private_to), clock_timestamp()
from jsonb_to_recordset(%(events)s) as told(place int, event uuid, type text, memory uuid, verb text, other uuid)
join memories_memory memory on memory.end_user_id = %(end_user)s and memory.id = told.memory
where {ARE_KEPT} order by told.place
"""  # noqa: S608  (only constants of this module)

_RECORD = f"""
insert into events_projectevent ({COLUMNS})
select %(event)s, %(project)s, %(end_user)s, %(type)s, %(trace)s, %(memory)s, %(details)s, clock_timestamp()
where {ARE_KEPT}
"""


def event_rows(events: Iterable[PlannedEvent]) -> list[dict[str, Any]]:
    """Return the rows of RECORD_MEMORY_EVENTS."""
    return [
        {
            "place": place,
            "event": str(new_id()),
            "type": each.type.value,
            "memory": str(each.memory_id),
            "verb": each.verb,
            "other": each.other_id and str(each.other_id),
        }
        for place, each in enumerate(events)
    ]


def record_event(
    *,
    project_id: UUID,
    type: EventType,
    end_user_id: UUID | None = None,
    trace_id: UUID | None = None,
    memory_id: UUID | None = None,
    details: Mapping[str, Any],
) -> None:
    """Record one event in the caller's transaction; `details` hold identifiers, states and numbers, no content."""
    values: dict[str, Any] = {
        "event": new_id(),
        "project": project_id,
        "end_user": end_user_id,
        "type": type.value,
        "trace": trace_id,
        "memory": memory_id,
        "details": Jsonb(dict(details)),
    }
    with connection.cursor() as cursor:
        cursor.execute(_RECORD, values)
