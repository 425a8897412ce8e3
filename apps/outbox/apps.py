from django.apps import AppConfig


class OutboxConfig(AppConfig):
    """What is owed: work that a commit left behind, and who does it."""

    name = "apps.outbox"
    verbose_name = "What is owed"
