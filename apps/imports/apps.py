from django.apps import AppConfig


class ImportsConfig(AppConfig):
    """Imports: uploaded files, and how far each is imported."""

    name = "apps.imports"
    verbose_name = "Imports"
