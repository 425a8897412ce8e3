"""Restore an archived project."""

from uuid import UUID

from django.db import transaction

from apps.actions.errors import Conflict, NotFound
from apps.actions.ledger.record import record
from apps.outbox.model_pauses import end_all_pauses
from apps.tenants.models import Project


def restore_project(*, project_id: UUID) -> Project:
    """Take turns and writes again, and continue the queue.

    Pauses of models end: else work that has waited in the archive would be given up untried. Raises NotFound, Conflict
    for a project that is not archived.
    """
    with transaction.atomic():
        project = Project.objects.select_for_update().filter(pk=project_id).first()
        if project is None:
            raise NotFound("there is no such project")
        if project.archived_at is None:
            raise Conflict("the project is not archived")
        project.archived_at = None
        project.save(update_fields=["archived_at"])
        end_all_pauses(project_id=project.pk)
        record(project_id=project.pk, verb="project_restored", object_kind="project", object_id=project.pk)
    return project
