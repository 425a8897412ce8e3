"""Note which memory or pair a member has open."""

from datetime import timedelta
from uuid import UUID

from django.utils import timezone

from apps.memories.models import ReviewPresence

EXPIRES_AFTER = timedelta(minutes=1)  # without a heartbeat


def note_presence(*, project_id: UUID, person_id: int, object_id: UUID) -> list[int]:
    """Note a heartbeat and return the other people who have the same memory or pair open.

    Nothing is locked by it. A person has one thing open, the latest. Rows of people who left are removed.
    """
    now = timezone.now()
    rows = ReviewPresence.objects.filter(project_id=project_id)
    rows.filter(seen_at__lt=now - EXPIRES_AFTER).delete()
    rows.update_or_create(project_id=project_id, person_id=person_id, defaults={"object_id": object_id, "seen_at": now})
    return list(rows.filter(object_id=object_id).exclude(person_id=person_id).values_list("person_id", flat=True))
