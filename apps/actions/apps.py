from django.apps import AppConfig


class ActionsConfig(AppConfig):
    """What we can do: one verb a file."""

    name = "apps.actions"
