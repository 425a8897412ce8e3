"""Find the project of an import, for a worker that has its identifier alone."""

from uuid import UUID

from django.utils import timezone

from apps.imports.models import FileImport
from apps.pipeline.core.enums import ImportState
from apps.tenants.system_scope import SystemWork, system_scope


def project_of_import(import_id: UUID) -> UUID | None:
    """Return the project, None if there is no such import."""
    with system_scope(SystemWork.SCHEDULE):
        return FileImport.objects.filter(id=import_id).values_list("project_id", flat=True).first()


def is_another_running(import_id: UUID) -> bool:
    """Return True while a process works on another import, of any project."""
    with system_scope(SystemWork.SCHEDULE):
        running = FileImport.objects.filter(state=ImportState.RUNNING, leased_until__gt=timezone.now())
        return running.exclude(id=import_id).exists()
