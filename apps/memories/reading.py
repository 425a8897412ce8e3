"""Read found memories by a statement that is written once.

The ORM takes longer to write its statement for ten hits than the database to run it; this reads the same rows into the
same models.
"""

import json
from collections.abc import Sequence
from typing import Any, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import JSONField, Model

from apps.memories.models import Entity, Memory
from apps.memories.querysets import NOT_SHOWN
from apps.tenants.models import EndUser
from apps.traces.models import Session

Found = TypeVar("Found", bound=Model)

_MODELS: tuple[type[Model], ...] = (Memory, EndUser, Entity, Session)
_NAMES = {model: tuple(each.attname for each in model._meta.concrete_fields) for model in _MODELS}
_NAMES[Memory] = tuple(name for name in _NAMES[Memory] if name not in NOT_SHOWN)
_JSON = frozenset(each.attname for each in Memory._meta.concrete_fields if isinstance(each, JSONField))
_ENDS = [sum(len(_NAMES[model]) for model in _MODELS[: count + 1]) for count in range(len(_MODELS))]

_SHOWN = """
select {columns} from memories_memory memory
join tenants_enduser enduser on enduser.id = memory.end_user_id
left join memories_entity entity on entity.end_user_id = memory.end_user_id and entity.id = memory.subject_id
left join traces_session session on session.end_user_id = memory.end_user_id and session.id = memory.session_id
where memory.end_user_id = %s and memory.id = any(%s)
""".format(columns=", ".join(f'{model._meta.model_name}."{name}"' for model in _MODELS for name in _NAMES[model]))


def read_memories(*, end_user_id: UUID, ids: Sequence[UUID]) -> dict[UUID, Memory]:
    """Return memories of one end user as `to_show` reads them, in one round trip; ids of others are left out."""
    with connection.cursor() as cursor:
        cursor.execute(_SHOWN, [end_user_id, list(ids)])
        read = [_memory(row) for row in cursor.fetchall()]
    return {memory.id: memory for memory in read}


def _memory(row: Sequence[Any]) -> Memory:
    user_at, subject_at, session_at, end = _ENDS
    names = _NAMES[Memory]
    values = [json.loads(value) if name in _JSON else value for name, value in zip(names, row[:user_at], strict=True)]
    memory = Memory.from_db(DEFAULT_DB_ALIAS, names, values)
    memory.end_user = EndUser.from_db(DEFAULT_DB_ALIAS, _NAMES[EndUser], row[user_at:subject_at])
    memory.subject = _related(Entity, row[subject_at:session_at])
    memory.session = _related(Session, row[session_at:end])
    return memory


def _related(model: type[Found], values: Sequence[Any]) -> Found | None:
    return None if values[0] is None else model.from_db(DEFAULT_DB_ALIAS, _NAMES[model], values)
