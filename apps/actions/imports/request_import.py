"""Request an import: its file is uploaded in parts then."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from django.db import transaction

from apps.actions.errors import Conflict
from apps.actions.ledger.record import record
from apps.imports.models import FileImport
from apps.pipeline.core.enums import ImportFormat
from apps.tenants.models import Project

MOST_FILES = 20  # of a project that are stored at the same time


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """Which file, and whose its entries are; without a format it is recognised."""

    project_id: UUID
    file_name: str
    file_format: ImportFormat | None = None
    user_id: str = ""
    users_by_name: Mapping[str, str] = field(default_factory=dict)
    person_id: int | None = None
    api_key_id: UUID | None = None


def request_import(*, request: ImportRequest) -> FileImport:
    """Create an import without its file. Raises Conflict if the project has MOST_FILES files already."""
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=request.project_id)  # for the count
        if FileImport.objects.filter(project_id=request.project_id, has_file=True).count() >= MOST_FILES:
            raise Conflict(f"{MOST_FILES} files are stored already: finish or delete one of their imports")
        made = FileImport.objects.create(
            project_id=request.project_id,
            person_id=request.person_id,
            api_key_id=request.api_key_id,
            file_name=request.file_name,
            format=request.file_format or "",
            user_id=request.user_id,
            users_by_name=dict(request.users_by_name),
        )
        record(project_id=request.project_id, verb="import_requested", object_kind="import", object_id=made.id)
    return made
