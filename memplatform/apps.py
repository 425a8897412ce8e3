"""The Django apps of the project itself."""

import os
from typing import Any

import msgspec
from django.apps import AppConfig, apps
from django.contrib.admin.apps import AdminConfig
from django.db import connections
from django.db.backends.postgresql.base import DatabaseWrapper
from psycopg.types.json import set_json_dumps

# References are kept forever: collecting a pool would close sockets that the parent still uses.
_inherited: list[Any] = []


def forget_connections() -> None:
    """Drop those of the parent in a forked child, unclosed: closing would write to sockets that the parent uses."""
    pools: dict[str, Any] = vars(DatabaseWrapper)["_connection_pools"]  # there is no other way to drop one unclosed
    _inherited.extend(pools.values())
    pools.clear()
    for wrapper in connections.all(initialized_only=True):
        if wrapper.connection is not None:
            _inherited.append(wrapper.connection)
            wrapper.connection = None


class MemplatformConfig(AppConfig):
    """The project itself: its system checks and commands."""

    name = "memplatform"
    label = "memplatform"

    def ready(self) -> None:
        """Register the system checks, the fork handler of the connections, and the JSON encoder of psycopg."""
        from memplatform import checks  # noqa: F401  (they need loaded settings)

        os.register_at_fork(after_in_child=forget_connections)
        set_json_dumps(msgspec.json.encode)  # eight times faster than the standard library


class TablesAdminConfig(AdminConfig):
    """Django's admin, without the tables of packages.

    Who may add a task of django-q2 may run any code on the server; those of allauth hold secrets.
    """

    default_site = "memplatform.admin_site.AllProjectsSite"

    def ready(self) -> None:
        """Register what the apps show, then take out the tables of the packages."""
        super().ready()
        from django.contrib import admin

        for label in ("django_q", "account", "mfa", "socialaccount"):
            for model in apps.get_app_config(label).get_models():
                if admin.site.is_registered(model):
                    admin.site.unregister(model)
