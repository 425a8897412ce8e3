"""Undo a label."""

from uuid import UUID

from django.db import transaction

from apps.actions.errors import NotFound
from apps.actions.evaluation.label_item import Labeller
from apps.actions.get_or_create import hold_end_user
from apps.actions.memories.retract import retract
from apps.memories.models import EvaluationLabel

_AS_STORED = 1  # the version of a memory that nobody has changed


def undo_label(*, by: Labeller, item_id: UUID) -> None:
    """Remove the labeller's own label of an item, and retract the memory that it stored.

    Raises NotFound, Conflict if that memory has been changed since.
    """
    with transaction.atomic():
        rows = EvaluationLabel.objects.filter(item__sample__project_id=by.project_id, item_id=item_id)
        found = rows.filter(labeller=by.name).first()
        if found is not None:
            hold_end_user(found.end_user_id)  # before the label, as whoever deletes turns does
        # Locked where the rows of its end user are, in a statement of its own.
        rows = EvaluationLabel.objects.select_for_update()
        label = found and rows.filter(end_user_id=found.end_user_id, id=found.id).first()
        if label is None:
            raise NotFound("there is no label of yours")
        if label.remembered_id is not None:
            retract(
                project_id=by.project_id,
                memory_id=label.remembered_id,
                person_id=by.person_id,
                api_key_id=by.api_key_id,
                expected_version=_AS_STORED,
            )
        label.delete()
