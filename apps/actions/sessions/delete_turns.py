"""Delete turns with what hangs on them: memories that no other turn states, quotes, traces and model answers.

With a whole session its items go too.

A memory that other turns state as well stays, without the quote, the context and the history that came from the
deleted turns. Everything else that a run made of a deleted turn goes with it, see docs/decisions/erasure.md.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from apps.actions.errors import Conflict, NotFound
from apps.actions.ledger.record import record
from apps.events.recording import record_event
from apps.outbox.leases import interrupt
from apps.pipeline.core import identifiers
from apps.pipeline.core.enums import EventType
from apps.tenants.end_users import UserBeingErased, keep_from_writers
from apps.traces.models import IdempotentRequest, Session, Trace, Turn

# Memories that only the deleted turns state, or that a labeller stored of them; with a whole session also those that
# were stored directly in it.
_GROUNDED = """
select memory.id from memories_memory memory
where memory.end_user_id = %(end_user)s
  and (memory.id in (select memory_id from memories_memoryorigin
                     where end_user_id = %(end_user)s and turn_id = any(%(turns)s))
       or memory.id in (select label.remembered_id from memories_evaluationlabel label
                        join memories_evaluationitem item
                        on item.end_user_id = label.end_user_id and item.id = label.item_id
                        where item.end_user_id = %(end_user)s and item.turn_id = any(%(turns)s))
       or (%(whole)s and memory.session_id = %(session)s))
  and not exists (select from memories_memoryorigin other
                  where other.end_user_id = %(end_user)s and other.memory_id = memory.id
                    and other.turn_id <> all(%(turns)s))
order by memory.id for update of memory
"""
_STATED_ELSEWHERE = """
select memory.id from memories_memory memory
where memory.end_user_id = %(end_user)s and memory.id <> all(%(memories)s)
  and memory.id in (select memory_id from memories_memoryorigin
                    where end_user_id = %(end_user)s and turn_id = any(%(turns)s))
order by memory.id for update of memory
"""
# With the labels that people gave them for evaluation.
_DELETE_MEMORIES = (
    "delete from memories_evaluationlabel where end_user_id = %(end_user)s and item_id in (select id"
    " from memories_evaluationitem where end_user_id = %(end_user)s and memory_id = any(%(memories)s))",
    "delete from memories_evaluationitem where end_user_id = %(end_user)s and memory_id = any(%(memories)s)",
    "delete from memories_memorycomment where end_user_id = %(end_user)s and memory_id = any(%(memories)s)",
    "delete from memories_reviewassignment where end_user_id = %(end_user)s and memory_id = any(%(memories)s)",
    "delete from memories_memoryorigin where end_user_id = %(end_user)s and memory_id = any(%(memories)s)",
    "delete from memories_memoryversion where end_user_id = %(end_user)s and memory_id = any(%(memories)s)",
    "delete from memories_memorylink where end_user_id = %(end_user)s"
    " and (from_memory_id = any(%(memories)s) or to_memory_id = any(%(memories)s))",
    "delete from memories_memoryvector where end_user_id = %(end_user)s and memory_id = any(%(memories)s)",
    "update memories_memory set superseded_by_id = null"
    " where end_user_id = %(end_user)s and superseded_by_id = any(%(memories)s)",
    "delete from memories_memory where end_user_id = %(end_user)s and id = any(%(memories)s)",
)
# The context of a memory quotes neighbouring turns, so it is removed from all memories of the session.
_DETACH_OTHERS = (
    "delete from memories_memoryorigin where end_user_id = %(end_user)s and turn_id = any(%(turns)s)",
    "delete from memories_memoryversion where end_user_id = %(end_user)s and memory_id = any(%(kept)s)",
    """
    update memories_memory memory set evidence = latest.evidence, context = '', trace_id = latest.trace_id,
        session_id = latest.session_id, candidate_index = null, version = memory.version + 1
    from (
        select distinct on (memory_id) memory_id, evidence, trace_id, session_id from memories_memoryorigin
        where end_user_id = %(end_user)s and memory_id = any(%(kept)s)
        order by memory_id, withdrawn, said_at desc, id desc
    ) latest where memory.end_user_id = %(end_user)s and memory.id = latest.memory_id
    """,
    "update memories_memory set context = '' where end_user_id = %(end_user)s and session_id = %(session)s"
    " and context <> ''",
)
_DELETE_ENTITIES = """
with unused as (
    select entity.id, entity.merged_into_id from memories_entity entity
    where entity.end_user_id = %(end_user)s and entity.id = any(%(entities)s) and not entity.is_user
      and not exists (select from memories_entity merged
                      where merged.end_user_id = %(end_user)s and merged.merged_into_id = entity.id)
      and not exists (select from memories_memory where end_user_id = %(end_user)s and subject_id = entity.id)
      and not exists (select from memories_memory where end_user_id = %(end_user)s
                      and object->>'entity' = 'ent_' || replace(entity.id::text, '-', ''))
), names as (
    delete from memories_entityalias alias using unused
    where alias.end_user_id = %(end_user)s and alias.entity_id = unused.id
), changes as (
    delete from memories_entitychange change using unused
    where change.end_user_id = %(end_user)s and change.entity_id = unused.id
)
delete from memories_entity entity using unused where entity.end_user_id = %(end_user)s and entity.id = unused.id
"""
_ENTITIES_OF = """
select subject_id from memories_memory
where end_user_id = %(end_user)s and id = any(%(memories)s) and subject_id is not null
union
select replace(object->>'entity', 'ent_', '')::uuid from memories_memory
where end_user_id = %(end_user)s and id = any(%(memories)s) and object ? 'entity'
"""
# A trace of deleted and other turns keeps its counts. An answer may come from a call that several traces shared.
_EMPTY_TRACES = (
    "delete from traces_replayedtrace where end_user_id = %(end_user)s"
    " and trace_id in (select id from traces_trace where end_user_id = %(end_user)s and session_id = %(session)s)",
    "update traces_trace set outcomes = '[]', plan = '[]', error = ''"
    " where end_user_id = %(end_user)s and id = any(%(touched)s)",
    "update traces_modelcall set answer = '', error = '' where end_user_id = %(end_user)s"
    " and trace_id in (select id from traces_trace where end_user_id = %(end_user)s and session_id = %(session)s)",
    "delete from memories_evaluationlabel where end_user_id = %(end_user)s and item_id in (select id"
    " from memories_evaluationitem where end_user_id = %(end_user)s and turn_id = any(%(turns)s))",
    "delete from memories_evaluationitem where end_user_id = %(end_user)s and turn_id = any(%(turns)s)",
    "delete from traces_turn where end_user_id = %(end_user)s and id = any(%(turns)s)",
)
_DELETE_TRACES = (
    "update memories_memory set trace_id = null, candidate_index = null"
    " where end_user_id = %(end_user)s and trace_id = any(%(ended)s)",
    "update memories_memoryversion set trace_id = null where end_user_id = %(end_user)s and trace_id = any(%(ended)s)",
    "update memories_memorylink set trace_id = null where end_user_id = %(end_user)s and trace_id = any(%(ended)s)",
    "delete from traces_modelcall where end_user_id = %(end_user)s and trace_id = any(%(ended)s)",
    "delete from traces_span where end_user_id = %(end_user)s and trace_id = any(%(ended)s)",
    "delete from outbox_outboxrow where end_user_id = %(end_user)s and subject_id = any(%(ended)s)",
    "delete from traces_trace where end_user_id = %(end_user)s and id = any(%(ended)s)",
)
_DELETE_ITEMS = "delete from items_storeditem where end_user_id = %s and session_id = %s"
_DELETE_SESSION = (
    "update memories_memory set session_id = null where end_user_id = %(end_user)s and session_id = %(session)s",
    "delete from outbox_outboxrow where end_user_id = %(end_user)s and session_id = %(session)s",
    "delete from traces_session where end_user_id = %(end_user)s and id = %(session)s",
)


_TOUCH_SESSION = """
update traces_session set last_turn_at = statement_timestamp() where end_user_id = %(end_user)s and id = %(session)s
"""


def delete_turn(*, project_id: UUID, turn_id: UUID) -> dict[str, int]:
    """Delete one turn and what hangs on it; return how many memories were deleted. Raises NotFound, Conflict."""
    with transaction.atomic():
        turn = Turn.objects.filter(id=turn_id, session__project_id=project_id).select_related("session").first()
        if turn is None:
            raise NotFound("there is no such turn")
        return _delete(turn.session, [turn_id], whole=False)


def delete_session(*, project_id: UUID, user_id: str, session_id: str) -> dict[str, int]:
    """Delete a session, its turns and what hangs on them; return how many were deleted. Raises NotFound, Conflict."""
    user = identifiers.end_user_id(project_id=project_id, user_id=user_id)
    named = identifiers.session_id(end_user_id=user, session_id=session_id)
    with transaction.atomic():
        session = Session.objects.filter(project_id=project_id, end_user_id=user, id=named).first()
        _lock_end_user(user)
        items = _delete_items(user, session_id)
        if session is None:
            return _without_turns(project_id=project_id, end_user=user, session=named, items=items)
        turns = Turn.objects.filter(end_user_id=user, session=session)
        return _delete(session, list(turns.values_list("id", flat=True)), whole=True, items=items)


def _without_turns(*, project_id: UUID, end_user: UUID, session: UUID, items: int) -> dict[str, int]:
    """Record that a session was deleted that had items alone. Raises NotFound if it had none."""
    if not items:
        raise NotFound("there is no such session")
    deleted = {"turns": 0, "memories": 0, "items": items}
    record(
        project_id=project_id,
        end_user_id=end_user,
        verb="session_deleted",
        object_kind="session",
        object_id=session,
        details={"rows": deleted},
    )
    return deleted


def _delete_items(end_user: UUID, session_id: str) -> int:
    """Delete the items of a session, which may have no turns; return how many there were."""
    with connection.cursor() as cursor:
        cursor.execute(_DELETE_ITEMS, [end_user, session_id])
        return int(cursor.rowcount)


def _lock_end_user(end_user: UUID) -> None:
    """Take the first lock, which keeps other writers out. Raises Conflict if the end user is being erased."""
    try:
        keep_from_writers(end_user)
    except UserBeingErased as erased:
        raise Conflict(str(erased)) from erased


def _delete(session: Session, turns: Sequence[UUID], *, whole: bool, items: int = 0) -> dict[str, int]:
    """Delete turns in the lock order of the writers: end user, session, memories, lease, the rest."""
    _lock_end_user(session.end_user_id)
    Session.objects.select_for_update().get(end_user_id=session.end_user_id, id=session.id)
    values: dict[str, Any] = {
        "end_user": session.end_user_id,
        "session": session.id,
        "turns": list(turns),
        "whole": whole,
        "memories": [],
    }
    values["memories"] = _ids(_GROUNDED, values)
    values["kept"] = _ids(_STATED_ELSEWHERE, values)
    values["entities"] = _ids(_ENTITIES_OF, values)
    interrupt(end_user_id=session.end_user_id)
    _delete_memories(session, values)
    _execute([_DELETE_ENTITIES], values)
    _delete_traces(session, values)
    IdempotentRequest.objects.filter(end_user_id=session.end_user_id).delete()
    deleted = {"turns": len(turns), "memories": len(values["memories"]), "items": items}
    _record(session, values, deleted)
    return deleted


def _delete_memories(session: Session, values: dict[str, Any]) -> None:
    """Delete what only the turns state, and take the quotes of the session from the rest."""
    _execute(_DELETE_MEMORIES, values)
    _execute(_DETACH_OTHERS, values)


def _delete_traces(session: Session, values: dict[str, Any]) -> None:
    """Delete the traces that have no turn left, and the session if it is deleted as a whole."""
    traces = Trace.objects.filter(end_user_id=session.end_user_id, session=session)
    own = traces if values["whole"] else traces.filter(turns__in=values["turns"])
    ids = set(own.distinct().values_list("id", flat=True))
    # Traces without turns of their own have read those of the whole session.
    values["touched"] = list(ids | set(traces.filter(turns__isnull=True).values_list("id", flat=True)))
    _execute(_EMPTY_TRACES, values)
    without_turns = traces.filter(id__in=ids, turns__isnull=True)
    values["ended"] = list(without_turns.values_list("id", flat=True))
    _execute(_DELETE_TRACES, values)
    if values["whole"]:
        _execute(_DELETE_SESSION, values)
    else:
        # Processes that have cached the session's last turns read them again.
        _execute([_TOUCH_SESSION], values)


def _record(session: Session, values: Mapping[str, Any], deleted: Mapping[str, int]) -> None:
    record(
        project_id=session.project_id,
        end_user_id=session.end_user_id,
        verb="session_deleted" if values["whole"] else "turn_deleted",
        object_kind="session" if values["whole"] else "turn",
        object_id=session.id if values["whole"] else values["turns"][0],
        details={"rows": dict(deleted), "memories": [str(each) for each in values["memories"]]},
    )
    for memory_id in values["memories"]:
        record_event(
            project_id=session.project_id,
            type=EventType.MEMORY_DELETED,
            end_user_id=session.end_user_id,
            memory_id=memory_id,
            details={"verb": "deleted"},
        )


def _ids(sql: str, values: Mapping[str, Any]) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return [row[0] for row in cursor.fetchall()]


def _execute(statements: Sequence[str], values: Mapping[str, Any]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement, values)
