"""Compute the vectors of the configured embedder for memories that only have vectors of another one."""

from collections.abc import Iterable, Iterator
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef

from apps.actions.memories.index_memories import embed_memories, write_vectors
from apps.memories.models import Memory, MemoryVector
from apps.memories.querysets import MemoryQuerySet
from apps.pipeline.core.ports import Embedder
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope

BATCH = 256


def count_missing(*, embedder: Embedder) -> int:
    """Count the memories of all projects without a vector of this embedder."""
    with system_scope(SystemWork.MAINTENANCE):
        return missing(embedder=embedder).count()


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
    while rows := _next_missing(embedder, after):
        by_user: dict[tuple[UUID, UUID], list[UUID]] = {}
        for memory_id, *owner in rows:
            by_user.setdefault((owner[0], owner[1]), []).append(memory_id)
        for (project_id, end_user_id), memory_ids in by_user.items():
            with tenant_scope(project_id=project_id, end_user_id=end_user_id):
                entries = embed_memories(end_user_id=end_user_id, memory_ids=memory_ids, embedder=embedder)
                write_vectors(end_user_id=end_user_id, entries=entries, embedder=embedder)
        after = rows[-1][0]
        yield len(rows)


def _next_missing(embedder: Embedder, after: UUID) -> list[tuple[UUID, UUID, UUID]]:
    """Return a batch of memories without vectors, with their projects and end users."""
    following = missing(embedder=embedder).filter(id__gt=after)
    with system_scope(SystemWork.MAINTENANCE):
        return list(following.values_list("id", "project_id", "end_user_id")[:BATCH])


def forget_other_vectors(*, embedder: Embedder) -> int:
    """Delete the vectors of all other embedders in batches; return how many were deleted."""
    deleted = 0
    while True:
        with system_scope(SystemWork.MAINTENANCE), transaction.atomic():
            others = MemoryVector.objects.exclude(embedder=embedder.name).order_by("end_user_id", "memory_id")
            rows = list(others.values_list("end_user_id", "memory_id")[:BATCH])
            for end_user_id, memory_ids in _by_user(rows).items():
                of_user = MemoryVector.objects.filter(end_user_id=end_user_id, memory_id__in=memory_ids)
                deleted += of_user.exclude(embedder=embedder.name).delete()[0]
        if len(rows) < BATCH:
            return deleted


def _by_user(rows: Iterable[tuple[UUID, UUID]]) -> dict[UUID, list[UUID]]:
    memories: dict[UUID, list[UUID]] = {}
    for end_user_id, memory_id in rows:
        memories.setdefault(end_user_id, []).append(memory_id)
    return memories
