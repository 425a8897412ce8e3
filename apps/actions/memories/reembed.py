"""Compute the vectors of the configured embedder for memories that only have vectors of another one."""

from collections.abc import Iterator
from uuid import UUID

from django.db.models import Exists, OuterRef

from apps.actions.memories.index_memories import embed_memories, write_vectors
from apps.memories.models import Memory, MemoryVector
from apps.memories.querysets import MemoryQuerySet
from apps.pipeline.core.ports import Embedder

BATCH = 256


def missing(*, embedder: Embedder) -> MemoryQuerySet:
    """Return the memories without a vector of this embedder, oldest first."""
    vectors = MemoryVector.objects.filter(
        end_user_id=OuterRef("end_user_id"), memory_id=OuterRef("id"), embedder=embedder.name
    )
    return Memory.objects.filter(~Exists(vectors)).order_by("id")


def reembed(*, embedder: Embedder) -> Iterator[int]:
    """Embed memories without vectors in batches; yield the size of each batch.

    An interrupted run can be continued. Memories that are written in the meantime are indexed by workers.
    """
    after = UUID(int=0)
    while rows := list(missing(embedder=embedder).filter(id__gt=after).values_list("id", "end_user_id")[:BATCH]):
        by_user: dict[UUID, list[UUID]] = {}
        for memory_id, end_user_id in rows:
            by_user.setdefault(end_user_id, []).append(memory_id)
        for end_user_id, memory_ids in by_user.items():
            entries = embed_memories(end_user_id=end_user_id, memory_ids=memory_ids, embedder=embedder)
            write_vectors(end_user_id=end_user_id, entries=entries, embedder=embedder)
        after = rows[-1][0]
        yield len(rows)


def forget_other_vectors(*, embedder: Embedder) -> int:
    """Delete the vectors of all other embedders; return how many were deleted."""
    deleted, _ = MemoryVector.objects.exclude(embedder=embedder.name).delete()
    return deleted
