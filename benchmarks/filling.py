"""Fill a scratch database: index the memories of one end user and copy them to others."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Model

from apps.memories.models import Memory, MemoryVector
from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.identifiers import end_user_id
from apps.pipeline.core.policy import IndexPolicy
from apps.pipeline.core.ports import Embedder
from apps.pipeline.indexing import index
from apps.tenants.models import EndUser


def store_vectors(memories: Sequence[Memory], *, embedder: Embedder) -> None:
    """Index stored memories, as stage 7 does."""
    indexable = [
        index.Indexable(
            id=each.id,
            type=MemoryType(each.type),
            content=each.content,
            subject=each.subject.name if each.subject else "",
            predicate=each.predicate,
            object_text=each.object_text,
        )
        for each in memories
    ]
    users = {each.id: each.end_user_id for each in memories}
    MemoryVector.objects.bulk_create(
        (
            MemoryVector(
                end_user_id=users[entry.memory_id],
                memory_id=entry.memory_id,
                embedder=embedder.name,
                dimension=embedder.dimension,
                embedding=entry.vector,
                questions=entry.questions,
                question_embeddings=entry.question_vectors,
            )
            for entry in index.run(indexable, embedder=embedder, policy=IndexPolicy())
        ),
        batch_size=1_000,
    )


# Rows of all users in random order, as they are in the tables after months of use.
_COPIES = """
create temporary table copies on commit drop as
    select original.id as original, gen_random_uuid() as id, copy.end_user, random() as place
    from memories_memory original cross join unnest(%(users)s::uuid[]) as copy(end_user)
        cross join generate_series(1, %(times)s::int)
    where original.end_user_id = %(template)s
"""
_MEMORIES = """
insert into memories_memory (id, end_user_id, canonical_hash, {columns})
select copies.id, copies.end_user, md5(copies.id::text), {columns}
from copies join memories_memory original on original.id = copies.original order by copies.place
"""
_VECTORS = """
insert into memories_memoryvector (id, end_user_id, memory_id, {columns})
select gen_random_uuid(), copies.end_user, copies.id, {columns}
from copies join memories_memoryvector original on original.memory_id = copies.original order by copies.place
"""


def copy_memories(*, template: EndUser, users: int, times: int) -> list[UUID]:
    """Copy the template's memories and vectors to new end users, each memory `times` times; return the users."""
    project, prefix = template.project, f"copy-{users}-{times}"
    made = [
        EndUser(id=end_user_id(project_id=project.id, user_id=name), project=project, external_id=name)
        for name in (f"{prefix}-{number}" for number in range(users))
    ]
    EndUser.objects.bulk_create(made)
    values: dict[str, Any] = {"users": [each.id for each in made], "times": times, "template": template.id}
    with _no_triggers(), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_COPIES, values)
        cursor.execute(_MEMORIES.format(columns=_columns(Memory, without={"id", "end_user_id", "canonical_hash"})))
        cursor.execute(_VECTORS.format(columns=_columns(MemoryVector, without={"id", "end_user_id", "memory_id"})))
    return [each.id for each in made]


@contextmanager
def _no_triggers() -> Iterator[None]:
    with connection.cursor() as cursor:
        for act in ("disable", "enable"):
            for table in (Memory, MemoryVector):
                cursor.execute(f"alter table {table._meta.db_table} {act} trigger user")
            if act == "disable":
                yield


def _columns(model: type[Model], *, without: set[str]) -> str:
    columns = (field.column for field in model._meta.concrete_fields if not field.generated)
    return ", ".join(f'"{column}"' for column in columns if column not in without)
