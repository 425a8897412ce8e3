from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate


class WorkerConfig(AppConfig):
    """Background work: drains the outbox and runs the scheduled tasks."""

    name = "apps.worker"

    def ready(self) -> None:
        """Keep the schedules up to date."""
        from apps.worker.schedules import update_schedules

        post_migrate.connect(update_schedules, sender=apps.get_app_config("django_q"))
