"""Querysets of end users."""

from typing import Self
from uuid import UUID

from django.db.models import QuerySet


class EndUserQuerySet(QuerySet["EndUser"]):  # type: ignore[name-defined]  # models import this file
    """End users by project and presence."""

    def for_project(self, project_id: UUID) -> Self:
        """Keep one project's end users."""
        return self.filter(project_id=project_id)

    def present(self) -> Self:
        """Leave out end users that were erased or are being erased."""
        return self.filter(erasing_since__isnull=True, erased_at__isnull=True)
