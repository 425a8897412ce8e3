from django.apps import AppConfig


class WorkerConfig(AppConfig):
    """Background work: drains the outbox and runs the scheduled tasks."""

    name = "apps.worker"
