"""Write an act into the ledger."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from apps.memories.ledger.actor import current_actor
from apps.memories.models import LedgerEntry


def record(
    verb: str,
    object_kind: str,
    object_id: UUID,
    *,
    project_id: UUID,
    end_user_id: UUID | None = None,
    actor: str = "",
    details: Mapping[str, Any] | None = None,
) -> None:
    """Add one entry in the caller's transaction, by default for the current actor.

    `details` hold identifiers, names of fields and numbers, no content.
    """
    LedgerEntry.objects.create(
        project_id=project_id,
        end_user_id=end_user_id,
        actor=actor or current_actor(),
        verb=verb,
        object_kind=object_kind,
        object_id=object_id,
        details=dict(details or {}),
    )
