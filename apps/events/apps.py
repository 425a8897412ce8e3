from django.apps import AppConfig


class EventsConfig(AppConfig):
    """Events of projects, the webhooks that are told of them, and each delivery."""

    name = "apps.events"
    verbose_name = "Events"
