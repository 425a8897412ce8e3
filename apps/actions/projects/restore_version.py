"""Restore an earlier configuration version."""

from uuid import UUID

from django.db import transaction

from apps.actions.errors import Conflict, NotFound
from apps.actions.projects.configure import configure
from apps.traces.models import ConfigurationVersion


def restore_version(*, project_id: UUID, number: int) -> ConfigurationVersion:
    """Make the policy of an earlier version active, as a new version, so that the history stays complete.

    Raises NotFound, Conflict for the active version.
    """
    with transaction.atomic():
        version = ConfigurationVersion.objects.filter(project_id=project_id, number=number).first()
        if version is None:
            raise NotFound("there is no such version")
        if version.is_active:
            raise Conflict("this version is the active one")
        return configure(project_id=project_id, policy=version.as_policy(), note=f"back to version {number}")
