from django.apps import AppConfig


class ApiConfig(AppConfig):
    """The REST API, used by agents."""

    name = "apps.api"
