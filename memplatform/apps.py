import msgspec
from django.apps import AppConfig, apps
from django.contrib.admin.apps import AdminConfig
from psycopg.types.json import set_json_dumps


class MemplatformConfig(AppConfig):
    """The project itself: its system checks and commands."""

    name = "memplatform"
    label = "memplatform"

    def ready(self) -> None:
        """Register the system checks, the fork handler of the connection pools, and the JSON encoder of psycopg."""
        from memplatform import checks, pools  # noqa: F401  (they need loaded settings)

        pools.forget_after_fork()
        set_json_dumps(msgspec.json.encode)  # eight times faster than the standard library


class TablesAdminConfig(AdminConfig):
    """Django's admin, without the tables of django-q2: who may add a task there may run any code on the server."""

    default_site = "memplatform.admin_site.AllProjectsSite"

    def ready(self) -> None:
        """Register what the apps show, then take out the tables of the task runner."""
        super().ready()
        from django.contrib import admin

        for model in apps.get_app_config("django_q").get_models():
            if admin.site.is_registered(model):
                admin.site.unregister(model)
