"""Remember what a missed turn says: a labeller stores the memory that was not extracted."""

from uuid import UUID

from django.db import transaction

from apps.actions.errors import Conflict, Unfit
from apps.actions.evaluation.label_item import Labeller, find_item, label_item
from apps.actions.get_or_create import hold_end_user
from apps.actions.memories.store import StoreRequest, store_with_outcomes
from apps.memories.models import EvaluationLabel, Memory
from apps.pipeline.core.enums import LabelValue, MemoryType, SourceConfidence, Status
from apps.pipeline.core.input_validation import BadInput
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.pipeline.direct_write.outcomes import StoreResult


def remember_turn(*, by: Labeller, item_id: UUID, content: str, type: MemoryType) -> EvaluationLabel:
    """Store a memory in the words of the labeller, active, with the turn as its quote, and label the turn as missed.

    What an active memory says already is not stored again. Raises NotFound, Unfit for an item that is no turn or whose
    text is gone, Conflict if the labeller has stored a memory of it before, or while the end user is being erased.
    """
    item = find_item(project_id=by.project_id, item_id=item_id)
    turn = item.turn
    if turn is None or not turn.content:
        raise Unfit("only a turn whose text is still there can be remembered")
    new = NewMemory(
        type=type,
        content=content,
        evidence=turn.content,
        said_at=turn.occurred_at or turn.received_at,
        session_id=turn.session.external_id,
        source_confidence=SourceConfidence.CONFIRMED,
        status=Status.ACTIVE,
    )
    known = Memory.objects.for_end_user(item.end_user_id).active().filter(content__iexact=content)
    with transaction.atomic():
        hold_end_user(item.end_user_id)  # the same labeller may ask twice at once
        if item.labels.filter(labeller=by.name, remembered_id__isnull=False).exists():
            raise Conflict("a memory of this turn is stored already")
        memory_id = None if known.exists() else _stored(by, item.end_user.external_id, new)
        return label_item(by=by, item_id=item.pk, value=LabelValue.SOMETHING, remembered_id=memory_id)


def _stored(by: Labeller, user_id: str, new: NewMemory) -> UUID | None:
    """Store a memory; return its identifier, None if it was known."""
    request = StoreRequest(
        project_id=by.project_id,
        api_key_id=by.api_key_id,
        person_id=by.person_id,
        user_id=user_id,
        memories=(new,),
    )
    try:
        (stored,) = store_with_outcomes(request=request)
    except BadInput as bad:
        raise Unfit(f"the memory {bad}", at=bad.at) from bad
    return None if stored.result is StoreResult.MERGED else stored.memory_id
