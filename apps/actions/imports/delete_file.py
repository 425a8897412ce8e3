"""Delete the stored files of imports: of one that nobody needs, and of old ones."""

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.actions.errors import Conflict, NotFound
from apps.actions.ledger.record import record
from apps.imports.models import FileImport, FilePart
from apps.pipeline.core.enums import ImportState
from apps.tenants.system_scope import SystemWork, system_scope

OLD = "nobody has finished it, and its file was deleted"


def delete_import_file(*, project_id: UUID, import_id: UUID) -> FileImport:
    """Delete the file of an import that is not under way; its report stays. Raises NotFound, Conflict."""
    with transaction.atomic():
        found = FileImport.objects.select_for_update().filter(project_id=project_id, id=import_id).first()
        if found is None:
            raise NotFound("there is no such import")
        if not found.is_over:
            raise Conflict(f"the import is {found.state}: cancel it first")
        if forget_files(FileImport.objects.filter(id=import_id, has_file=True), error=""):
            record(project_id=project_id, verb="import_file_deleted", object_kind="import", object_id=import_id)
    found.refresh_from_db()
    return found


def forget_old_files() -> int:
    """Delete the files of imports that nobody has finished for IMPORT_KEPT_DAYS; return how many."""
    before = timezone.now() - timedelta(days=settings.IMPORT_KEPT_DAYS)
    with system_scope(SystemWork.SCHEDULE):
        last = Q(finished_at__lt=before) | Q(finished_at__isnull=True, created_at__lt=before)
        under_way = (ImportState.WAITING, ImportState.RUNNING)
        return forget_files(FileImport.objects.filter(last, has_file=True).exclude(state__in=under_way), error=OLD)


def forget_files(imports: QuerySet[FileImport], *, error: str) -> int:
    """Delete the files of some imports; those that are not done are cancelled, with the reason."""
    cancelled = {"state": ImportState.CANCELLED, "error": error, "finished_at": timezone.now()}
    with transaction.atomic():
        # The rows are locked first, as by whoever stores a part: no part is stored after the others are deleted.
        ids = list(imports.select_for_update().order_by("id").values_list("id", flat=True))
        rows = FileImport.objects.filter(id__in=ids)
        rows.exclude(state=ImportState.DONE).update(**cancelled, leased_until=None, lease_token=None, resume_at=None)
        forgotten = rows.update(has_file=False, users=[])
        FilePart.objects.filter(file_import__in=ids).delete()
    return forgotten
