"""Querysets of end users and invitations."""

from datetime import datetime
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


class InvitationQuerySet(QuerySet["Invitation"]):  # type: ignore[name-defined]  # models import this file
    """Invitations by state."""

    def open(self, *, now: datetime) -> Self:
        """Keep those that can be accepted."""
        return self.filter(accepted_at__isnull=True, revoked_at__isnull=True, expires_at__gt=now)
