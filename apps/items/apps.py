from django.apps import AppConfig


class ItemsConfig(AppConfig):
    """Items: JSON that callers keep by namespace and key."""

    name = "apps.items"
    verbose_name = "Items"
