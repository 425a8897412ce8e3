"""Label an item of a sample."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.actions.errors import NotFound, Unfit
from apps.actions.get_or_create import actor_of, hold_end_user
from apps.memories.models import EvaluationItem, EvaluationLabel
from apps.pipeline.core.enums import LABEL_VALUES, LabelValue


@dataclass(frozen=True, slots=True)
class Labeller:
    """Who labels: a person in the console, or the holder of an API key."""

    project_id: UUID
    person_id: int | None = None
    api_key_id: UUID | None = None

    @property
    def name(self) -> str:
        """Return the labeller as it is stored, such as "person:7"."""
        return actor_of(self.api_key_id, self.person_id)


def label_item(*, by: Labeller, item_id: UUID, value: LabelValue, remembered_id: UUID | None = None) -> EvaluationLabel:
    """Store what a labeller says about an item, in place of what the same labeller said before.

    Raises NotFound, Unfit for a value that is for the other kind of item, Conflict while the end user is being erased.
    """
    item = find_item(project_id=by.project_id, item_id=item_id)
    if value not in LABEL_VALUES[item.kind]:
        raise Unfit(f"a {item.kind} can be {', '.join(LABEL_VALUES[item.kind])}", at="/value")
    with transaction.atomic():
        hold_end_user(item.end_user_id)
        said: dict[str, Any] = {"value": value, "created_at": timezone.now()}
        if remembered_id is not None:  # another label of the same item does not forget what was stored
            said["remembered_id"] = remembered_id
        label, _ = EvaluationLabel.objects.update_or_create(
            end_user_id=item.end_user_id, item=item, labeller=by.name, defaults=said
        )
    return label


def find_item(*, project_id: UUID, item_id: UUID) -> EvaluationItem:
    """Return an item of a project with its memory or turn. Raises NotFound."""
    rows = EvaluationItem.objects.select_related("sample", "end_user", "memory", "turn__session")
    item = rows.filter(id=item_id, sample__project_id=project_id).first()
    if item is None:
        raise NotFound("there is no such item")
    return item
