from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """What people see."""

    name = "apps.console"
