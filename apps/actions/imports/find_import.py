"""Find an import of a project."""

from uuid import UUID

from apps.actions.errors import NotFound
from apps.imports.models import FileImport


def find_import(*, project_id: UUID, import_id: UUID) -> FileImport:
    """Return an import. Raises NotFound."""
    found = FileImport.objects.filter(project_id=project_id, id=import_id).first()
    if found is None:
        raise NotFound("there is no such import")
    return found
