"""Store a part of an uploaded file."""

from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Sum
from django.db.models.functions import Length

from apps.actions.errors import Conflict, NotFound, Unfit
from apps.imports.models import FileImport, FilePart
from apps.pipeline.core.enums import ImportState

MEGABYTE = 1024 * 1024


def store_part(*, project_id: UUID, import_id: UUID, number: int, content: bytes) -> FileImport:
    """Store part `number` of the file, from 1; the same part again replaces the former one.

    Raises NotFound, Conflict unless the import waits for its file, Unfit for an empty part or too large a file.
    """
    if not content:
        raise Unfit("must not be empty")
    with transaction.atomic():
        held = FileImport.objects.select_for_update().filter(project_id=project_id, id=import_id).first()
        if held is None:
            raise NotFound("there is no such import")
        if not held.has_file:
            raise Conflict("its file was deleted: request another import")
        if held.state != ImportState.UPLOADING:
            raise Conflict(f"the import is {held.state}")
        others = FilePart.objects.filter(file_import=held).exclude(number=number)
        size = (others.aggregate(size=Sum(Length("content")))["size"] or 0) + len(content)
        if size > settings.IMPORT_MAX_MB * MEGABYTE:
            raise Unfit(f"the file exceeds {settings.IMPORT_MAX_MB:,} MB")
        FilePart.objects.update_or_create(
            file_import=held, number=number, defaults={"content": content, "project_id": project_id}
        )
        held.size = size
        held.save(update_fields=["size"])
    return held
