"""Begin the check of an import: its file is complete."""

from uuid import UUID

from django.db import transaction
from django.db.models import Count, Max

from apps.actions.errors import Conflict, NotFound
from apps.imports.models import FileImport, FilePart
from apps.pipeline.core.enums import ImportFormat, ImportState

_CHECKABLE = (ImportState.UPLOADING, ImportState.CHECKED, ImportState.CANCELLED, ImportState.FAILED)


def begin_check(*, project_id: UUID, import_id: UUID, file_format: ImportFormat | None = None) -> FileImport:
    """Leave the check to a worker; a format that is given replaces the former one.

    Raises NotFound, Conflict if the import is under way, has begun or has no file, or if parts are missing.
    """
    with transaction.atomic():
        held = FileImport.objects.select_for_update().filter(project_id=project_id, id=import_id).first()
        if held is None:
            raise NotFound("there is no such import")
        if held.state not in _CHECKABLE or held.position or not held.has_file:
            raise Conflict(f"the import is {held.state}" if held.has_file else "its file was deleted")
        parts = FilePart.objects.filter(file_import=held).aggregate(count=Count("id"), last=Max("number"))
        if not parts["count"] or parts["count"] != parts["last"]:
            raise Conflict("the file has no parts, or one of them is missing")
        held.state, held.error, held.finished_at = ImportState.CHECKING, "", None
        held.format = file_format or held.format
        # An earlier check says nothing now: an import counts as read only once its check has ended.
        held.counts, held.users, held.problems = {}, [], []
        held.leased_until = held.lease_token = None
        held.save()
    return held
