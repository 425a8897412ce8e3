"""Index memories: store the vectors of their contents and of the questions that they answer."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction

from apps.memories.models import Memory, MemoryVector
from apps.outbox import processing
from apps.outbox.leases import Lease
from apps.outbox.scheduling import NextWork
from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.policy import IndexPolicy
from apps.pipeline.core.ports import Embedder
from apps.pipeline.indexing import index
from apps.pipeline.indexing.index import Indexable, VectorEntry
from apps.traces.policies import active_configuration, policy_of


def index_memories(*, lease: Lease, work: Sequence[NextWork], embedder: Embedder) -> list[NextWork]:
    """Index the memories that the work names and return what is owed behind it; twice leaves the same vectors.

    Raises LostLease, having written nothing.
    """
    entries = embed_memories(
        end_user_id=lease.end_user_id, memory_ids=[each.subject_id for each in work], embedder=embedder
    )
    with transaction.atomic():
        write_vectors(end_user_id=lease.end_user_id, entries=entries, embedder=embedder)
        return processing.finish(lease=lease, work=work)


def embed_memories(*, end_user_id: UUID, memory_ids: Sequence[UUID], embedder: Embedder) -> tuple[VectorEntry, ...]:
    """Embed the contents of one end user's memories and the questions that they answer."""
    rows = list(_rows(end_user_id, memory_ids))
    if not rows:
        return ()
    configuration = rows[0]["configuration"]
    policy = policy_of(configuration).index if configuration else IndexPolicy()
    return index.run([_indexable(row) for row in rows], embedder=embedder, policy=policy)


def write_vectors(*, end_user_id: UUID, entries: Sequence[VectorEntry], embedder: Embedder) -> None:
    """Store the vectors of one end user's memories; those of the same embedder are replaced."""
    MemoryVector.objects.bulk_create(
        (
            MemoryVector(
                end_user_id=end_user_id,
                memory_id=entry.memory_id,
                embedder=embedder.name,
                dimension=embedder.dimension,
                embedding=entry.vector,
                questions=entry.questions,
                question_embeddings=entry.question_vectors,
            )
            for entry in entries
        ),
        update_conflicts=True,
        unique_fields=["end_user", "memory", "embedder"],
        update_fields=["dimension", "embedding", "questions", "question_embeddings"],
    )


def _rows(end_user_id: UUID, memory_ids: Sequence[UUID]) -> Iterable[Mapping[str, Any]]:
    """Read the memories, with the active configuration of their project in the same query."""
    rows = Memory.objects.for_end_user(end_user_id).filter(id__in=memory_ids).order_by("id")
    fields = ("id", "type", "content", "subject__name", "predicate", "object_text", "configuration")
    return [dict(row) for row in rows.annotate(configuration=active_configuration("project_id")).values(*fields)]


def _indexable(row: Mapping[str, Any]) -> Indexable:
    return Indexable(
        id=row["id"],
        type=MemoryType(row["type"]),
        content=row["content"],
        subject=row["subject__name"] or "",
        predicate=row["predicate"],
        object_text=row["object_text"],
    )
