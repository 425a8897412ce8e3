"""Record events in the transaction of the change that they tell of, where the project keeps events.

Whether events are kept is found out by the statement that records them, which is a part of one that writers run
anyway: a project without webhooks pays for no further one, and no cache of that answer can be out of date. On Citus,
which takes no inserts in CTEs, it is sent together with others.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import connection
from psycopg.types.json import Jsonb

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
_RECORD = f"""
insert into events_projectevent ({COLUMNS})
select %(event)s, %(project)s, %(end_user)s, %(type)s, %(trace)s, %(memory)s, %(details)s, clock_timestamp()
where {ARE_KEPT} returning 1
"""


def trace_event_values(*, project_id: UUID, is_failed: bool) -> dict[str, Any]:
    """Return the query parameters of RECORD_TRACE, apart from those of the statement that closes the trace."""
    type_ = EventType.TRACE_FAILED if is_failed else EventType.TRACE_FINISHED
    return {"project": project_id, "event": new_id(), "event_type": type_.value}


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
