"""Clear the notes that people have written about an end user who is erased."""

from uuid import UUID

from apps.alerts.models import Alert
from apps.memories.models import Rollback, RollbackItem

LEAST_CHARACTERS = 3  # of a user_id that is looked for in texts: a shorter one is found in words that mean others


def clear_notes(*, project_id: UUID, end_user_id: UUID, user_id: str) -> int:
    """Empty the notes of rollbacks that concern the user, and all notes that hold the user_id; return how many.

    Must run while the rollbacks still refer to the user. A note that tells of the user in other words is not found.
    """
    rollbacks = Rollback.objects.filter(project_id=project_id).exclude(note="")
    concerned = list(RollbackItem.objects.filter(end_user_id=end_user_id).values_list("rollback_id", flat=True))
    cleared = rollbacks.filter(id__in=concerned).update(note="")
    if len(user_id) >= LEAST_CHARACTERS:
        cleared += rollbacks.filter(note__icontains=user_id).update(note="")
        cleared += Alert.objects.for_project(project_id).filter(note__icontains=user_id).update(note="")
    return cleared
