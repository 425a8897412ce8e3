"""Which memories still lack questions written by a model, and when a call for them is due."""

from uuid import UUID

from django.db.models import Exists, OuterRef

from apps.memories.models import Memory, MemoryVector
from apps.memories.querysets import MemoryQuerySet
from apps.outbox.enqueue import enqueue
from apps.outbox.leases import Lease
from apps.pipeline.core.enums import WorkKind
from apps.pipeline.core.ports import Embedder
from apps.pipeline.indexing.model_questions import MEMORIES_PER_CALL


def without_model_questions(*, end_user_id: UUID, embedder: Embedder) -> MemoryQuerySet:
    """Return an end user's live extracted memories whose questions no model has written, oldest first.

    Memories that callers stored directly are left out: they have no trace that could record the cost.
    """
    asked = MemoryVector.objects.filter(
        end_user_id=OuterRef("end_user_id"), memory_id=OuterRef("id"), embedder=embedder.name, questions_by=""
    )
    live = Memory.objects.for_end_user(end_user_id).live().filter(trace__isnull=False)
    return live.filter(Exists(asked)).order_by("id")


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
