"""The final state of a project without identifiers and times, to compare runs of the same turns."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import psycopg

from tests.chaos.load import Receipt

_MEMORIES = """
select person.external_id, m.type, m.predicate, m.object_text, m.content, m.status, m.version, m.confidence,
       m.valid_from, m.valid_until, successor.content,
       (select count(*) from memories_memoryorigin o where o.end_user_id = m.end_user_id and o.memory_id = m.id),
       (select count(*) from memories_memoryversion v where v.end_user_id = m.end_user_id and v.memory_id = m.id),
       (select count(*) from memories_memoryvector v where v.end_user_id = m.end_user_id and v.memory_id = m.id)
from memories_memory m join tenants_enduser person on person.id = m.end_user_id
left join memories_memory successor on successor.end_user_id = m.end_user_id and successor.id = m.superseded_by_id
where person.project_id = %(project)s
"""
_LEDGER = """
select person.external_id, entry.verb, entry.object_kind, count(*)
from memories_ledgerentry entry join tenants_enduser person on person.id = entry.end_user_id
where entry.project_id = %(project)s group by 1, 2, 3
"""
_ENTITIES = """
select person.external_id, e.name, e.type, e.mention_count
from memories_entity e join tenants_enduser person on person.id = e.end_user_id where e.project_id = %(project)s
"""
# A turn whose acceptance was lost on the way back is sent again, and dropped for its id: that one is left out.
_TURNS = """
select person.external_id, s.external_id,
       row_number() over (partition by turn.session_id order by turn.position), turn.content, trace.status,
       (trace.counts - 'memory_ids')::text,
       (select array_agg(span.stage order by span.position) from traces_span span
        where span.end_user_id = turn.end_user_id and span.trace_id = turn.trace_id)
from traces_turn turn join traces_trace trace on trace.end_user_id = turn.end_user_id and trace.id = turn.trace_id
join traces_session s on s.id = turn.session_id join tenants_enduser person on person.id = turn.end_user_id
where trace.project_id = %(project)s and turn.rejected_for <> 'repeated_turn'
"""
_WORK = "select kind, state, count(*) from outbox_outboxrow where project_id = %(project)s group by 1, 2"
_STATUSES = "select 'trc_' || replace(id::text, '-', ''), status from traces_trace where project_id = %(project)s"
_OPEN = """
select count(*) from outbox_outboxrow where project_id = %(project)s and state in ('pending', 'running')
"""


def final_state(connection: psycopg.Connection[Any], project: str) -> dict[str, Counter[tuple[Any, ...]]]:
    """Return the stored rows of a project's turns."""
    asked = {"memories": _MEMORIES, "ledger": _LEDGER, "entities": _ENTITIES, "turns": _TURNS, "work": _WORK}
    return {name: Counter(map(_frozen, _rows(connection, sql, project))) for name, sql in asked.items()}


def assert_each_accepted_once(
    connection: psycopg.Connection[Any], project: str, receipts: Iterable[Receipt], *, ended: frozenset[str]
) -> None:
    """Check that every receipt's trace has ended, and that there is no trace without a receipt."""
    statuses = dict(_rows(connection, _STATUSES, project))
    accepted = [receipt.trace_id for receipt in receipts]
    assert len(set(accepted)) == len(accepted)
    assert set(statuses) == set(accepted), "lost or doubled"
    assert set(statuses.values()) <= ended


def open_work(connection: psycopg.Connection[Any], project: str) -> int:
    """Count the open work."""
    return int(_rows(connection, _OPEN, project)[0][0])


def project_id(connection: psycopg.Connection[Any], slug: str) -> str:
    return str(connection.execute("select id from tenants_project where slug = %s", [slug]).fetchall()[0][0])


def _rows(connection: psycopg.Connection[Any], sql: str, project: str) -> list[tuple[Any, ...]]:
    return connection.execute(sql, {"project": project}).fetchall()


def _frozen(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(tuple(value) if isinstance(value, list) else value for value in row)
