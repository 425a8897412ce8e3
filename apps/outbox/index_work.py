"""Find out which memories have no vectors yet, by the work that writes them."""

from collections.abc import Collection
from uuid import UUID

from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import WorkKind, WorkState


def unfinished_index_work(*, end_user_ids: Collection[UUID], memory_ids: Collection[UUID]) -> dict[UUID, WorkState]:
    """Return the state of the work of each memory whose vectors are not written: pending, running or dead."""
    if not memory_ids:
        return {}
    work = OutboxRow.objects.filter(kind=WorkKind.INDEX_MEMORY, end_user_id__in=end_user_ids, subject_id__in=memory_ids)
    rows = work.exclude(state=WorkState.DONE).values_list("subject_id", "state")
    return {memory_id: WorkState(state) for memory_id, state in rows}
