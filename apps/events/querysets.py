"""Querysets of deliveries."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet


class WebhookDeliveryQuerySet(QuerySet["WebhookDelivery"]):  # type: ignore[name-defined]  # models import this file
    """Deliveries by webhook, state, type and time."""

    def of_webhook(self, webhook_id: UUID) -> "WebhookDeliveryQuerySet":
        """Filter the deliveries of a webhook, with their events."""
        return self.filter(webhook_id=webhook_id).select_related("event")

    def matching(
        self,
        *,
        states: Sequence[str] = (),
        types: Sequence[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> "WebhookDeliveryQuerySet":
        """Filter by what is given."""
        found = self.filter(state__in=states) if states else self
        found = found.filter(event_type__in=types) if types else found
        found = found.filter(created_at__gte=since) if since else found
        return found.filter(created_at__lte=until) if until else found
