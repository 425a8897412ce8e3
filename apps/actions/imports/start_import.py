"""Start an import that was checked, or resume one that was cancelled or has failed."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.actions.errors import Conflict, NotFound
from apps.actions.ledger.record import record
from apps.imports.models import FileImport
from apps.pipeline.core.enums import ImportState

_STARTABLE = (ImportState.CHECKED, ImportState.CANCELLED, ImportState.FAILED)


def start_import(
    *, project_id: UUID, import_id: UUID, api_key_id: UUID | None = None, person_id: int | None = None
) -> FileImport:
    """Leave the import to a worker, in the name of whoever starts it; what is imported already stays.

    Raises NotFound, Conflict unless it was checked, waits for nobody and has its file.
    """
    with transaction.atomic():
        held = FileImport.objects.select_for_update().filter(project_id=project_id, id=import_id).first()
        if held is None:
            raise NotFound("there is no such import")
        if held.state not in _STARTABLE or not held.counts:
            raise Conflict(f"the import is {held.state}" if held.counts else "the import was not checked")
        if not held.has_file:
            raise Conflict("its file was deleted: request another import")
        held.state, held.error, held.wait_reason, held.finished_at = ImportState.WAITING, "", "", None
        held.api_key_id, held.person_id = api_key_id, person_id
        held.leased_until = held.lease_token = held.resume_at = None
        held.started_at = held.started_at or timezone.now()
        held.save()
        details = {"format": held.format, "chunks_done": held.position}
        record(project_id=project_id, verb="import_started", object_kind="import", object_id=held.pk, details=details)
    return held
