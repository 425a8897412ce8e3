from django.apps import AppConfig


class ActionsConfig(AppConfig):
    """Operations of users and callers: one verb per file."""

    name = "apps.actions"
