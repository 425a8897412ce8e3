"""SQL that records an accepted request: its end user and session, trace, turns and first span.

Every request pays for this, so the statements are sent without waiting for the result of each, and rows are sent as
JSON and unpacked by the database. Each statement writes one table.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from apps.intake.intake_precondition import LockedSession
from apps.memories.compact_sql import compact_sql
from apps.pipeline.core.draft import Draft, Drop, Origin
from apps.pipeline.core.enums import TraceStatus
from apps.pipeline.core.turn import SourceTurn
from apps.tenants.constant_statements import run_constant
from apps.traces.recorder import insert_spans, owner_values, span_rows
from apps.traces.trace_report import report_of
from apps.traces.turn_codec import TURN_COLUMNS, select_turn, turn_columns

_ADD_USER = """
insert into tenants_enduser (id, project_id, external_id, created_at)
values (%(end_user)s, %(project)s, %(user_id)s, now()) on conflict do nothing
"""
# An end user that was erased and returns keeps the row.
_RETURN_USER = """
update tenants_enduser set external_id = %(user_id)s, erased_at = null
where id = %(end_user)s and erased_at is not null
"""
_ADD_SESSION = """
insert into traces_session (id, end_user_id, project_id, external_id, turn_count, started_at, last_turn_at)
values (%(session)s, %(end_user)s, %(project)s, %(session_id)s, %(turn_count)s, now(), %(at)s)
on conflict do nothing returning 1
"""
_EXTEND_SESSION = """
update traces_session set turn_count = %(turn_count)s, last_turn_at = %(at)s, ended_at = null
where end_user_id = %(end_user)s and id = %(session)s
"""
_ADD_TRACE = """
insert into traces_trace (id, end_user_id, project_id, session_id, configuration_id, api_key_id, status, topic,
    agent_scope, metadata, counts, outcomes, traceparent, created_at, finished_at)
values (%(trace)s, %(end_user)s, %(project)s, %(session)s, %(version)s, %(api_key)s, %(status)s, %(topic)s,
    %(scope)s, %(metadata)s, %(counts)s, %(outcomes)s, %(parent)s, %(at)s, %(finished_at)s)
"""
_OWNER = "(select end_user_id as owner_id from traces_session where end_user_id = %(end_user)s and id = %(session)s)"
_ADD_TURNS = compact_sql(f"""
insert into traces_turn ({", ".join(TURN_COLUMNS)}, end_user_id, session_id, trace_id, rejected_for, rejected_by)
select {select_turn(received_at="%(at)s::timestamptz")},
    owner_id, %(session)s, %(trace)s, rejected_for, rejected_by
from {_OWNER} as owner, jsonb_populate_recordset(null::traces_turn, %(turns)s)
""")  # noqa: S608  (only constants of this module)
_ADD_SPANS = insert_spans(owner=_OWNER)


def place_turns(*, origin: Origin, user_id: str, session_id: str, locked: LockedSession, turn_count: int) -> bool:
    """Add turns to the number of those of the locked session, or add the session; ids are those of the caller.

    Returns False where another request has added the session in the meantime, so that it was not locked.
    """
    values = {
        "end_user": origin.end_user_id,
        "project": origin.project_id,
        "session": origin.session_id,
        "user_id": user_id,
        "session_id": session_id,
        "turn_count": locked.state.turn_count + turn_count,
        "at": locked.at,
    }
    if locked.state.last_turn_at is not None:
        run_constant(_EXTEND_SESSION, values)
        return True
    if not locked.is_user_known:
        run_constant(_ADD_USER, values)
    elif locked.was_user_erased:
        run_constant(_RETURN_USER, values)
    return bool(run_constant(_ADD_SESSION, values).take_rows())


def record_request(*, draft: Draft, configuration_id: UUID, status: TraceStatus, at: datetime) -> None:
    """Insert the trace of a request, its turns and its first span."""
    request, origin = draft.request, draft.request.origin
    report = report_of(draft)
    rejected = status is TraceStatus.REJECTED
    drops = {drop.turn_id: drop for drop in draft.drops}
    values = {
        **owner_values(draft),
        "project": origin.project_id,
        "api_key": origin.api_key_id,
        "version": configuration_id,
        "status": status.value,
        "topic": request.topic,
        "scope": Jsonb(origin.agent_scope.given()),
        "metadata": Jsonb(dict(request.metadata)),
        "parent": request.traceparent,
        "counts": Jsonb(report.counts),
        "outcomes": Jsonb(report.outcomes if rejected else []),
        "turns": Jsonb([_turn(turn, drops.get(turn.id)) for turn in request.turns]),
        "spans": Jsonb(span_rows(draft.spans, first=0)),
        "at": at,
        "finished_at": at if rejected else None,
    }
    for statement in (_ADD_TRACE, _ADD_TURNS, _ADD_SPANS):
        run_constant(statement, values)


def _turn(turn: SourceTurn, drop: Drop | None) -> dict[str, Any]:
    return {
        **turn_columns(turn),
        "rejected_for": drop.reason if drop else "",
        "rejected_by": drop.detail.get("rule", "") if drop else "",
    }
