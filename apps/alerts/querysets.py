"""Querysets of alerts."""

from uuid import UUID

from django.db.models import Count, QuerySet

from apps.alerts.enums import AlertState


class AlertQuerySet(QuerySet["Alert"]):  # type: ignore[name-defined]  # models import this file
    """Alerts by project and state."""

    def for_project(self, project_id: UUID) -> "AlertQuerySet":
        """Filter the alerts of a project."""
        return self.filter(project_id=project_id)

    def open(self) -> "AlertQuerySet":
        """Filter alerts that nobody has acknowledged."""
        return self.filter(state=AlertState.OPEN)

    def unresolved(self) -> "AlertQuerySet":
        """Filter alerts that are open or acknowledged."""
        return self.filter(resolved_at__isnull=True)

    def count_by_kind(self) -> dict[str, int]:
        """Count alerts by kind."""
        return dict(self.order_by().values_list("kind").annotate(alerts=Count("id")))
