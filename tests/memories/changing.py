"""Change memories in a test as every writer of the product does: the change is noted in its transaction."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from apps.memories.models import Memory
from apps.memories.writing.revisions import note_changes


@contextmanager
def changing(memories: QuerySet[Memory]) -> Iterator[None]:
    """Run a block in a transaction that changes or deletes these memories, or their vectors."""
    with transaction.atomic():
        for end_user_id, memory_id in list(memories.values_list("end_user_id", "id")):
            note_changes(end_user_id=end_user_id, memory_ids=[memory_id])
        yield


def change(memories: QuerySet[Memory], **values: Any) -> None:
    """Set columns of memories."""
    with changing(memories):
        memories.update(**values)
