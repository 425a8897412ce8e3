from django.apps import AppConfig


class ApiConfig(AppConfig):
    """What agents see: the REST interface."""

    name = "apps.api"
