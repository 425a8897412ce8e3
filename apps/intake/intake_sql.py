"""SQL that records an accepted request: its end user and session, trace, turns and first span.

Every request pays for this, so it is one statement: rows are sent as JSON and unpacked by the database.
The CTEs depend on each other through their inputs; their textual order does not matter.
"""

from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from apps.pipeline.core.draft import Draft, Drop
from apps.pipeline.core.enums import TraceStatus
from apps.pipeline.core.trace_report import report_of
from apps.pipeline.core.turn import SourceTurn
from apps.traces.recorder import INSERT_SPANS, owner_values, span_rows
from apps.traces.turn_codec import TURN_COLUMNS, select_turn, turn_columns

# Needs a CTE `agreed` with one row where the request may be recorded; its column `is_new` refers to the session.
# Concurrent requests are serialised by the lock on the session's row. In `placed`, `shift` is the number of turns that
# other requests appended since the state was read, and `at` the time of these turns, later than that of all before.
# An end user that was erased and returns keeps the row, in `returned`.
PLACED_CTES = """
known as (
    insert into tenants_enduser (id, project_id, external_id, created_at)
    select %(end_user)s, %(project)s, %(user_id)s, now() from agreed where is_new on conflict (id) do nothing
    returning id
), returned as (
    update tenants_enduser set external_id = %(user_id)s, erased_at = null
    from agreed where is_new and id = %(end_user)s and erased_at is not null
), placed as (
    insert into traces_session as old (id, end_user_id, project_id, external_id, turn_count,
                                started_at, last_turn_at)
    select %(session)s, %(end_user)s, %(project)s, %(session_id)s, %(turn_count)s, now(), clock_timestamp()
    from agreed, (select count(*) from known) known
    on conflict (id) do update set turn_count = old.turn_count + excluded.turn_count,
                                   last_turn_at = clock_timestamp(), ended_at = null
    returning turn_count - %(turn_count)s - %(first)s as shift, last_turn_at as at
)
"""
RECORD_CTES = f"""
new_trace as (
    insert into traces_trace (id, end_user_id, project_id, session_id, configuration_id, api_key_id, status, topic,
        agent_scope, metadata, counts, outcomes, traceparent, created_at, finished_at)
    select %(trace)s, %(end_user)s, %(project)s, %(session)s, %(version)s, %(api_key)s, %(status)s, %(topic)s,
        %(scope)s, %(metadata)s, %(counts)s, %(outcomes)s, %(parent)s, at, case when %(rejected)s then at end
    from placed
), new_turns as (
    insert into traces_turn ({", ".join(TURN_COLUMNS)}, end_user_id, session_id, trace_id, rejected_for, rejected_by)
    select {select_turn(position="position + shift", received_at="at")},
        %(end_user)s, %(session)s, %(trace)s, rejected_for, rejected_by
    from placed, jsonb_populate_recordset(null::traces_turn, %(turns)s)
), new_spans as ({INSERT_SPANS} where exists (select from placed))
"""  # noqa: S608  (only constants of this module)


def record_values(
    *, draft: Draft, user_id: str, session_id: str, configuration_id: UUID, status: TraceStatus
) -> dict[str, Any]:
    """Return the query parameters of PLACED_CTES and RECORD_CTES; user and session id are those of the caller."""
    request, origin = draft.request, draft.request.origin
    report = report_of(draft)
    rejected = status is TraceStatus.REJECTED
    drops = {drop.turn_id: drop for drop in draft.drops}
    return {
        **owner_values(draft),
        "user_id": user_id,
        "session_id": session_id,
        "project": origin.project_id,
        "api_key": origin.api_key_id,
        "version": configuration_id,
        "status": status.value,
        "rejected": rejected,
        "topic": request.topic,
        "scope": Jsonb(origin.agent_scope.given()),
        "metadata": Jsonb(dict(request.metadata)),
        "parent": request.traceparent,
        "counts": Jsonb(report.counts),
        "outcomes": Jsonb(report.outcomes if rejected else []),
        "turn_count": len(request.turns),
        "first": request.turns[0].position,
        "turns": Jsonb([_turn(turn, drops.get(turn.id)) for turn in request.turns]),
        "spans": Jsonb(span_rows(draft.spans, first=0)),
    }


def _turn(turn: SourceTurn, drop: Drop | None) -> dict[str, Any]:
    return {
        **turn_columns(turn),
        "rejected_for": drop.reason if drop else "",
        "rejected_by": drop.detail.get("rule", "") if drop else "",
    }
