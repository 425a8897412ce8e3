from django.apps import AppConfig


class QueueConfig(AppConfig):
    """What waits, runs and failed, and how it is retried."""

    name = "apps.queue"
