from django.apps import AppConfig
from django.db.backends.signals import connection_created


class TenantsConfig(AppConfig):
    """Projects, their members and API keys, and the end users that memories are about."""

    name = "apps.tenants"
    verbose_name = "Projects and end users"

    def ready(self) -> None:
        """Give each connection the scope of its statements."""
        from apps.tenants.scope import add_scope_to_statements

        connection_created.connect(add_scope_to_statements)
