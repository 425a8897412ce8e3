"""Which memories a model has yet to be asked for questions, and when a call for them is due.

Ten memories make a call at once. Fewer wait for some seconds for others to share it, so that new memories are found by
other words within a minute; the model is asked after the turns of the end user that wait meanwhile.
"""

from datetime import timedelta
from uuid import UUID

from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from apps.memories.models import Memory, MemoryVector
from apps.memories.querysets import MemoryQuerySet
from apps.outbox.enqueue import enqueue
from apps.outbox.leases import Lease
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import WorkKind, WorkState
from apps.pipeline.core.ports import Embedder
from apps.pipeline.indexing.model_questions import MEMORIES_PER_CALL

WAIT = timedelta(seconds=45)


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


def enqueue_questions(*, lease: Lease, embedder: Embedder) -> None:
    """Enqueue a call for questions in the caller's transaction; for few memories it is due after a while."""
    due = without_model_questions(end_user_id=lease.end_user_id, embedder=embedder)
    ids = list(due.values_list("id", flat=True)[:MEMORIES_PER_CALL])
    if not ids:
        return
    enqueue(
        end_user_id=lease.end_user_id,
        project_id=lease.project_id,
        kind=WorkKind.ASK_QUESTIONS,
        subject_ids=ids[:1],
    )
    untried = OutboxRow.objects.filter(
        end_user_id=lease.end_user_id,
        kind=WorkKind.ASK_QUESTIONS,
        state=WorkState.PENDING,
        attempts=0,
        waiting_since=None,
    )
    if len(ids) == MEMORIES_PER_CALL:
        untried.update(run_at=Now())
    else:
        untried.filter(run_at__lte=Now()).update(run_at=Now() + WAIT)
