"""Cancel an import; what it has imported stays, and it can be resumed."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.actions.errors import Conflict
from apps.actions.imports.find_import import find_import
from apps.actions.ledger.record import record
from apps.imports.models import FileImport
from apps.pipeline.core.enums import ImportState

_CANCELLABLE = (
    ImportState.UPLOADING,
    ImportState.CHECKING,
    ImportState.CHECKED,
    ImportState.WAITING,
    ImportState.RUNNING,
)


def cancel_import(*, project_id: UUID, import_id: UUID) -> FileImport:
    """Cancel an import that is not over; one that runs stops after the chunk at hand. Raises NotFound, Conflict."""
    changes = {
        "state": ImportState.CANCELLED,
        "finished_at": timezone.now(),
        "leased_until": None,
        "lease_token": None,
        "resume_at": None,
    }
    with transaction.atomic():
        rows = FileImport.objects.filter(project_id=project_id, id=import_id, state__in=_CANCELLABLE)
        rows.filter(state=ImportState.CHECKING).update(counts={})  # of half a file
        if rows.update(**changes):
            record(project_id=project_id, verb="import_cancelled", object_kind="import", object_id=import_id)
    found = find_import(project_id=project_id, import_id=import_id)
    if found.state != ImportState.CANCELLED:
        raise Conflict(f"the import is {found.state}")
    return found
