from django.apps import AppConfig


class IntakeConfig(AppConfig):
    """Turns and sessions are accepted, imports are run."""

    name = "apps.intake"
