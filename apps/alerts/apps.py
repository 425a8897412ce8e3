from django.apps import AppConfig


class AlertsConfig(AppConfig):
    """Alerts of projects, who is told about them, and the messages sent."""

    name = "apps.alerts"
    verbose_name = "Alerts"
