"""Which memories a model has yet to be asked for questions, and when a call for them is due.

Ten memories make a call; fewer are asked about together once the oldest has waited for a day.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef
from django.utils import timezone

from apps.memories.models import Memory, MemoryVector
from apps.memories.querysets import MemoryQuerySet
from apps.outbox.enqueue import enqueue
from apps.outbox.leases import Lease
from apps.pipeline.core.enums import WorkKind
from apps.pipeline.core.ports import Embedder
from apps.pipeline.indexing.model_questions import MEMORIES_PER_CALL

LONGEST_WAIT = timedelta(days=1)


def unasked(*, embedder: str) -> MemoryQuerySet:
    """Return the live extracted memories whose questions no model has written.

    Memories that callers stored directly are left out: they have no trace that could record the cost.
    """
    templates = MemoryVector.objects.filter(
        end_user_id=OuterRef("end_user_id"), memory_id=OuterRef("id"), embedder=embedder, questions_by=""
    )
    found: MemoryQuerySet = Memory.objects.live().filter(Exists(templates), trace__isnull=False)
    return found


def without_model_questions(*, end_user_id: UUID, embedder: Embedder) -> MemoryQuerySet:
    """Return an end user's memories that the model has yet to be asked about, oldest first."""
    return unasked(embedder=embedder.name).for_end_user(end_user_id).order_by("id")


def is_due(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return True if memories, oldest first, are enough for a call or have waited for long enough."""
    if len(rows) >= MEMORIES_PER_CALL:
        return True
    return bool(rows) and rows[0]["created_at"] <= timezone.now() - LONGEST_WAIT


def enqueue_questions(*, lease: Lease, embedder: Embedder) -> None:
    """Enqueue a call for questions in the caller's transaction, if there are enough memories for one."""
    due = without_model_questions(end_user_id=lease.end_user_id, embedder=embedder)
    ids = list(due.values_list("id", flat=True)[:MEMORIES_PER_CALL])
    if len(ids) == MEMORIES_PER_CALL:
        enqueue(
            end_user_id=lease.end_user_id,
            project_id=lease.project_id,
            kind=WorkKind.ASK_QUESTIONS,
            subject_ids=ids[:1],
        )
