"""Try a paused model without waiting for its next try."""

from uuid import UUID

from apps.actions.errors import Conflict
from apps.outbox import model_pauses


def try_model_now(*, project_id: UUID) -> None:
    """Make the next try of each paused model of a project due now. Raises Conflict if none is paused."""
    if not model_pauses.try_now(project_id=project_id):
        raise Conflict("all models answer")
