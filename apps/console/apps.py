from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """The web console and the admin."""

    name = "apps.console"
