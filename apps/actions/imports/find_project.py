"""Find the project of an import, for a worker that has its identifier alone."""

from uuid import UUID

from apps.imports.models import FileImport
from apps.tenants.system_scope import SystemWork, system_scope


def project_of_import(import_id: UUID) -> UUID | None:
    """Return the project, None if there is no such import."""
    with system_scope(SystemWork.SCHEDULE):
        return FileImport.objects.filter(id=import_id).values_list("project_id", flat=True).first()
