"""Whose memories a scheduled task is about, over all projects."""

from collections.abc import Iterator
from itertools import chain, islice
from uuid import UUID

from apps.memories.querysets import MemoryQuerySet
from apps.tenants.system_scope import SystemWork, system_scope

AT_ONCE = 1_000  # pairs that are fetched together


def owners_of(memories: MemoryQuerySet) -> Iterator[tuple[UUID, UUID]]:
    """Return the project and the end user of memories of all projects, each pair once."""
    owners = memories.order_by("project_id", "end_user_id").distinct()
    pairs = owners.values_list("project_id", "end_user_id").iterator(chunk_size=AT_ONCE)
    with system_scope(SystemWork.SCHEDULE):
        first = list(islice(pairs, 1))  # runs the query, which chooses all of its rows in this scope
    return chain(first, pairs)
