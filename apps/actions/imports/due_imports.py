"""Find the imports that wait for a process, those included whose process died."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import F, Q
from django.utils import timezone

from apps.imports.models import FileImport
from apps.pipeline.core.enums import ImportState
from apps.tenants.system_scope import SystemWork, system_scope

_STATES = (ImportState.CHECKING, ImportState.WAITING, ImportState.RUNNING)


@dataclass(frozen=True, slots=True)
class DueImport:
    """An import that nobody works on, and whether it is to be checked or imported."""

    id: UUID
    project_id: UUID
    is_check: bool


def due_imports() -> list[DueImport]:
    """Return the imports of all projects that are due and that nobody works on, those that waited longest first."""
    now = timezone.now()
    due = Q(resume_at__isnull=True) | Q(resume_at__lte=now)
    with system_scope(SystemWork.SCHEDULE):
        rows = (
            FileImport.objects.free()
            .filter(due, state__in=_STATES)
            .order_by(F("resume_at").asc(nulls_first=True), "created_at", "id")
        )
        found = list(rows.values_list("id", "project_id", "state"))
    return [DueImport(id, project_id, state == ImportState.CHECKING) for id, project_id, state in found]
