"""Read memories by one prepared statement into models.

For ten hits, the ORM takes longer to build its statement than the database to execute it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Model
from psycopg.pq import Format

from apps.memories.models import Entity, Memory
from apps.memories.querysets import NOT_SHOWN
from apps.tenants.models import EndUser
from apps.traces.models import Session

_MODELS: tuple[type[Model], ...] = (Memory, EndUser, Entity, Session)
_NAMES = {model: tuple(each.attname for each in model._meta.concrete_fields) for model in _MODELS}
_NAMES[Memory] = tuple(name for name in _NAMES[Memory] if name not in NOT_SHOWN)
_LOADED = frozenset(_NAMES[Memory])  # a set, because Django looks up each name
_ENDS = [sum(len(_NAMES[model]) for model in _MODELS[: count + 1]) for count in range(len(_MODELS))]

# The other sides of open contradictions whose sides are both live. Citus finds the shard of a subquery only where the
# end user is named in it.
_CONTRADICTED_BY = """
array(
    select other.id from (
        select to_memory_id as id from memories_memorylink
        where end_user_id = %(end_user)s and from_memory_id = memory.id
          and kind = 'contradicts' and status = 'open'
        union
        select from_memory_id from memories_memorylink
        where end_user_id = %(end_user)s and to_memory_id = memory.id
          and kind = 'contradicts' and status = 'open'
    ) linked join memories_memory other on other.end_user_id = %(end_user)s and other.id = linked.id
    where other.status in ('active', 'pending_review') and memory.status in ('active', 'pending_review')
    order by other.id
)
"""
# "offset 0" forces a lookup per primary key: the planner expects of every end user as many memories as the average has,
# and would read all of somebody with a thousand.
_SHOWN = """
select {columns}, {contradicted_by}
from unnest((select %(ids)s::uuid[])) wanted(id) cross join lateral (
    select * from memories_memory where end_user_id = %(end_user)s and id = wanted.id offset 0
) memory
join tenants_enduser enduser on enduser.id = %(end_user)s
left join memories_entity entity on entity.end_user_id = %(end_user)s and entity.id = memory.subject_id
left join traces_session session on session.end_user_id = %(end_user)s and session.id = memory.session_id
""".format(  # noqa: S608  (only names of columns)
    contradicted_by=_CONTRADICTED_BY,
    columns=", ".join(f'{model._meta.model_name}."{name}"' for model in _MODELS for name in _NAMES[model]),
)


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A memory, and the live memories that contradict it by open links."""

    memory: Memory
    contradicted_by: tuple[UUID, ...]


def read_memories(*, end_user_id: UUID, ids: Sequence[UUID]) -> dict[UUID, FoundMemory]:
    """Return memories of one end user as `to_show` reads them, in one round trip; ids of other users are left out.

    Memories of the same subject or session share one object of it.
    """
    with connection.cursor() as cursor:
        cursor.cursor.format = Format.BINARY  # times and JSON are parsed several times as fast as from text
        cursor.execute(_SHOWN, {"end_user": end_user_id, "ids": list(ids)})
        shared: dict[tuple[type[Model], Any], Any] = {}
        read = [FoundMemory(_memory(row, shared), tuple(row[-1])) for row in cursor.fetchall()]
    return {each.memory.id: each for each in read}


def _memory(row: Sequence[Any], shared: dict[tuple[type[Model], Any], Any]) -> Memory:
    user_at, subject_at, session_at, end = _ENDS
    memory = Memory.from_db(DEFAULT_DB_ALIAS, _LOADED, row[:user_at])
    memory.end_user = _related(EndUser, row[user_at:subject_at], shared)
    memory.subject = _related(Entity, row[subject_at:session_at], shared)
    memory.session = _related(Session, row[session_at:end], shared)
    return memory


def _related(model: type[Model], values: Sequence[Any], shared: dict[tuple[type[Model], Any], Any]) -> Any:
    key = model, values[0]
    if key not in shared:
        shared[key] = None if values[0] is None else model.from_db(DEFAULT_DB_ALIAS, _NAMES[model], values)
    return shared[key]
