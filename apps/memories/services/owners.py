"""Whose memories a scheduled task is about, over all projects."""

from collections.abc import Iterator
from itertools import chain, islice
from uuid import UUID

from apps.memories.querysets import MemoryQuerySet
from apps.tenants.system_scope import SystemWork, system_scope

AT_ONCE = 1_000  # pairs that are fetched together


def owners_of(memories: MemoryQuerySet, *, after: UUID | None = None) -> Iterator[tuple[UUID, UUID]]:
    """Return the project and the end user of memories of all projects, each pair once, in the order of end users."""
    following = memories.filter(end_user_id__gt=after) if after else memories
    pairs = following.order_by("end_user_id").distinct().values_list("project_id", "end_user_id")
    with system_scope(SystemWork.SCHEDULE):
        rows = pairs.iterator(chunk_size=AT_ONCE)
        first = list(islice(rows, 1))  # runs the query, which chooses all of its rows in this scope
    return chain(first, rows)
