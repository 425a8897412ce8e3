from django.apps import AppConfig


class TenantsConfig(AppConfig):
    """Who may do what: projects, members, keys and the end users whom memories are about."""

    name = "apps.tenants"
    verbose_name = "Projects and end users"
