"""Record events in the transaction of the change that they tell of, where the project keeps events.

Whether events are kept is found out by the statement that records them, which is a part of one that writers run
anyway: a project without webhooks pays for no further one, and no cache of that answer can be out of date. On Citus,
which takes no inserts in CTEs, it is sent together with others.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.db import connection
from psycopg.types.json import Jsonb

from apps.events.of_plan import PlannedEvent
from apps.pipeline.core.enums import EventType
from apps.pipeline.core.identifiers import new_id

# Citus reads the log before the rest of a statement, for which it needs a column. With "returning" it inserts what it
# has selected by an INSERT: without, by COPY, which row-level security refuses.
ARE_KEPT = "exists (select 1 from events_eventlog where project_id = %(project)s and is_on)"
COLUMNS = "event_id, project_id, end_user_id, type, trace_id, memory_id, details, created_at"

# The end of a trace, where the subquery {owner} has a row: the end user, as `owner_id`.
RECORD_TRACE = f"""
insert into events_projectevent ({COLUMNS})
select %(event)s::uuid, %(project)s::uuid, owner_id, %(event_type)s, %(trace)s::uuid, null::uuid,
    jsonb_build_object('status', %(status)s::text, 'counts', %(counts)s::jsonb), statement_timestamp()
from {{owner}} as owner where {ARE_KEPT} returning 1
"""  # noqa: S608  (only constants of this module)
# Changes of memories; `%(events)s` are rows of `event_rows`. A memory has its new values already.
RECORD_MEMORY_EVENTS = f"""
insert into events_projectevent ({COLUMNS})
select told.event, %(project)s, %(end_user)s, told.type, %(trace)s, told.memory, jsonb_build_object(
        'verb', told.verb, 'other', told.other, 'memory_type', memory.type, 'status', memory.status,
        'version', memory.version, 'private_to', memory.private_to), clock_timestamp()
from jsonb_to_recordset(%(events)s) as told(place int, event uuid, type text, memory uuid, verb text, other uuid)
join memories_memory memory on memory.end_user_id = %(end_user)s and memory.id = told.memory
where {ARE_KEPT} order by told.place returning 1
"""  # noqa: S608  (only constants of this module)

_RECORD = f"""
insert into events_projectevent ({COLUMNS})
select %(event)s, %(project)s, %(end_user)s, %(type)s, %(trace)s, %(memory)s, %(details)s, clock_timestamp()
where {ARE_KEPT} returning 1
"""


def trace_event_values(*, project_id: UUID, is_failed: bool) -> dict[str, Any]:
    """Return the query parameters of RECORD_TRACE, apart from those of the statement that closes the trace."""
    type_ = EventType.TRACE_FAILED if is_failed else EventType.TRACE_FINISHED
    return {"project": project_id, "event": new_id(), "event_type": type_.value}


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
