"""Archive a project: it can be read, and takes nothing."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.actions.errors import Conflict, NotFound
from apps.actions.ledger.record import record
from apps.tenants.models import Project


def archive_project(*, project_id: UUID) -> Project:
    """Refuse turns and writes from now on and pause the queue; keys and waiting work are kept.

    Raises NotFound, Conflict for a project that is archived already.
    """
    with transaction.atomic():
        project = Project.objects.select_for_update().filter(pk=project_id).first()
        if project is None:
            raise NotFound("there is no such project")
        if project.archived_at is not None:
            raise Conflict("the project is archived already")
        project.archived_at = timezone.now()
        project.save(update_fields=["archived_at"])
        record(project_id=project.pk, verb="project_archived", object_kind="project", object_id=project.pk)
    return project
