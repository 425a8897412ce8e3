from django.apps import AppConfig


class OutboxConfig(AppConfig):
    """The transactional outbox: pending work and the leases under which workers do it."""

    name = "apps.outbox"
    verbose_name = "Outbox"
