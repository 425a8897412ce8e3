from django.apps import AppConfig


class TenantsConfig(AppConfig):
    """Projects, their members and API keys, and the end users that memories are about."""

    name = "apps.tenants"
    verbose_name = "Projects and end users"
