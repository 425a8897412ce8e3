"""Copy everything that is known about some end users to many others, inside the database.

The originals were written by the product, so the copies have every row and value that it writes: turns, traces with
their spans and model calls, memories with versions, vectors and sources, work that is done. Identifiers of a copy are
computed from those of its original, so that references need no look-up, and they keep its order in time.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import DateTimeField, Field, ForeignKey, Model, UUIDField

from apps.events.models import ProjectEvent, WebhookDelivery
from apps.memories.models import (
    Entity,
    EntityAlias,
    EntityChange,
    Memory,
    MemoryLink,
    MemoryOrigin,
    MemoryVector,
    MemoryVersion,
)
from apps.outbox.models import UserLease
from apps.pipeline.core.identifiers import end_user_id
from apps.privacy.users import USER_TABLES
from apps.tenants.models import EndUser, Project
from apps.traces.models import Trace

# Events have numbers within their project, and are kept for a short time only.
_LEFT_OUT = frozenset({ProjectEvent, WebhookDelivery})
COPIED: tuple[type[Model], ...] = tuple(table.model for table in USER_TABLES if table.model not in _LEFT_OUT)
_OWNED = frozenset(COPIED)
# What is repeated in each round of an end user; names of people and leases exist once.
MEMORIES: frozenset[type[Model]] = frozenset({Memory, MemoryOrigin, MemoryVersion, MemoryLink, MemoryVector})
EVERYTHING = frozenset(COPIED) - {Entity, EntityAlias, EntityChange, UserLease}

# What the rounds of one end user say differs by some words, few of which are frequent.
_WORDS = " || ".join(["pg_temp.word()"] * 6)

_WRITTEN_AT = ("created_at", "received_at", "started_at")

# A time identifier keeps its first half, which orders it, and gets a random second half.
_FUNCTIONS = """
create or replace function pg_temp.copied(original uuid, salt bytea) returns uuid language sql immutable strict as $$
    select encode(substr(uuid_send(original), 1, 6) || substr(decode(md5(uuid_send(original) || salt), 'hex'), 7),
                  'hex')::uuid
$$;
create or replace function pg_temp.moved(moment timestamptz, since timestamptz, until timestamptz, factor float8)
returns timestamptz language sql immutable strict as $$
    select case when moment between since and until + interval '1 min'
                then until - greatest(until - moment, '0') * factor else moment end
$$;
create or replace function pg_temp.word() returns text language sql volatile as $$
    select ' ' || translate((1000 + 5000 ^ random())::int::text, '0123456789', 'abdefgklmo')
$$;
"""
_ROUNDS = """
create temporary table copy_round as
select original.id as original, copy.id as copy, number,
       uuid_send(copy.id) || int4send(number) as salt, uuid_send(copy.id) || int4send(1) as first_salt
from unnest(%(copies)s::uuid[], %(originals)s::uuid[]) as copy(id, original)
join tenants_enduser original on original.id = copy.original
cross join generate_series(1, %(rounds)s::int) as number
"""
_TIMES = """
create temporary table original_time as
select end_user_id as original, min(created_at) as since, max(coalesce(finished_at, created_at)) as until,
       %(seconds)s / greatest(extract(epoch from max(created_at) - min(created_at)), 0.001) as factor
from traces_trace where end_user_id = any(%(originals)s::uuid[]) group by 1
"""
# In the order of time over all end users, as rows are written by the product.
_INSERT = """
insert into {table} ({columns})
select {values}
from (
    select row.*, {place} as place
    from {table} row join original_time on original = end_user_id
    where end_user_id = any(%(originals)s::uuid[]) order by place
) as row
join original_time on original_time.original = row.end_user_id,
lateral (select * from copy_round where copy_round.original = row.end_user_id{once}) as round
"""
_BY_TIME = "extract(epoch from row.{column} - since) * factor"
_BY_KEY = "percent_rank() over (partition by end_user_id order by row.{column}) * %(seconds)s"


@dataclass(frozen=True, slots=True)
class Copies:
    """Which end users are copied how often: `rounds` is how many times one copy has the rows of its original."""

    originals: Sequence[UUID]
    names: Sequence[str]  # of the end users to make
    rounds: int
    repeated: frozenset[type[Model]]  # in each round; the other rows exist once
    over: timedelta  # what the originals did within minutes is spread over so long before now


def make_copies(project: Project, copies: Copies) -> list[UUID]:
    """Make the end users; return their ids."""
    made = [
        EndUser(id=end_user_id(project_id=project.id, user_id=name), project=project, external_id=name)
        for name in copies.names
    ]
    ids = [each.id for each in made]
    values: dict[str, Any] = {
        "copies": ids,
        "originals": [copies.originals[place % len(copies.originals)] for place in range(len(ids))],
        "rounds": copies.rounds,
        "seconds": copies.over.total_seconds(),
    }
    with transaction.atomic(), _without_triggers(), connection.cursor() as cursor:
        EndUser.objects.bulk_create(made, batch_size=1_000)
        cursor.execute(_FUNCTIONS)
        for statement in (_ROUNDS, "analyze copy_round", "create index on copy_round (original)", _TIMES):
            cursor.execute(statement, values if "%(" in statement else None)
        for model in COPIED:
            cursor.execute(_insert(model, copies.repeated), values)
        cursor.execute("drop table copy_round, original_time")
    return ids


def _insert(model: type[Model], repeated: frozenset[type[Model]]) -> str:
    table = model._meta.db_table
    columns = {field.column: _value(field, repeated) for field in model._meta.concrete_fields if not _is_made(field)}
    return _INSERT.format(
        table=table,
        columns=", ".join(f'"{column}"' for column in columns),
        values=", ".join(columns.values()),
        place=_place(model),
        once="" if model in repeated else " and number = 1",
    )


def _place(model: type[Model]) -> str:
    """Return the expression that orders the rows of a table."""
    columns = {field.column for field in model._meta.concrete_fields}
    times = [column for column in _WRITTEN_AT if column in columns]
    return _BY_TIME.format(column=times[0]) if times else _BY_KEY.format(column=model._meta.pk.column)


def _is_made(field: "Field[Any, Any]") -> bool:
    """Return True if the database computes the value."""
    return field.generated or (field.primary_key and field.get_internal_type() == "BigAutoField")


def _value(field: "Field[Any, Any]", repeated: frozenset[type[Model]]) -> str:
    """Return the expression of a column of a copy."""
    column = f'row."{field.column}"'
    if field.column == "end_user_id":
        return "round.copy"
    if isinstance(field, DateTimeField):
        return f"pg_temp.moved({column}, since, until, factor)"
    if field.column == "content" and field.model is Memory:
        return f"{column} || case when number = 1 then '' else {_WORDS} end"
    if field.column == "canonical_hash":
        return f"case when number = 1 then {column} else md5({column} || number) end"
    if field.column == "candidate_index":
        return f"{column} + 100 * (number - 1)" if Trace not in repeated else column
    if field.column == "external_id" and field.model._meta.db_table == "traces_session":
        return f"{column} || case when number = 1 then '' else '-' || number end"
    if _refers_to_copied(field):
        return f"pg_temp.copied({column}, {_salt(field, repeated)})"
    return column


def _refers_to_copied(field: "Field[Any, Any]") -> bool:
    if isinstance(field, ForeignKey):
        return field.related_model in _OWNED
    refers = field.primary_key or field.column in {"subject_id", "trace_id", "session_id"}
    return refers and isinstance(field, UUIDField)


def _salt(field: "Field[Any, Any]", repeated: frozenset[type[Model]]) -> str:
    target = field.related_model if isinstance(field, ForeignKey) else field.model
    return "salt" if target in repeated else "first_salt"


@contextmanager
def _without_triggers() -> Iterator[None]:
    """Check no reference and run no trigger until the end of the transaction."""
    with connection.cursor() as cursor:
        cursor.execute("set local session_replication_role = replica")
        yield
