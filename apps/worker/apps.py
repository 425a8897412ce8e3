from typing import Any

from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate


class WorkerConfig(AppConfig):
    """Background work: the work of end users, imports and webhooks, and the scheduled tasks."""

    name = "apps.worker"

    def ready(self) -> None:
        """Keep the schedules up to date, and let a new worker of a cluster trace what it does, and look for work."""
        from django_q.signals import post_spawn

        from apps.worker.schedules import update_schedules

        post_migrate.connect(update_schedules, sender=apps.get_app_config("django_q"))
        post_spawn.connect(_begin)


def _begin(**_: Any) -> None:
    from apps.outbox.enqueue import wake_workers
    from apps.telemetry.tracing import start_tracing

    start_tracing()
    wake_workers()
