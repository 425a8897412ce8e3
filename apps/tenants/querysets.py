"""Chainable adjectives for tenants."""

from django.db.models import Q, QuerySet
from django.utils import timezone


class ApiKeyQuerySet(QuerySet["ApiKey"]):  # type: ignore[name-defined]  # models import this file
    """Keys by what they are good for."""

    def usable(self) -> "ApiKeyQuerySet":
        """Keep keys that are neither revoked nor expired."""
        now = timezone.now()
        return self.filter(Q(expires_at__isnull=True) | Q(expires_at__gt=now), revoked_at__isnull=True)
