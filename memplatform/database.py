"""Make the configured database available, and connect to it as the owner of its tables."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection

from apps.tenants.scope import APP_ROLE, OWNER, entered
from memplatform import embedded


def ensure_database() -> None:
    """Start the embedded PostgreSQL if it is configured; it is never stopped here.

    Raises embedded.EmbeddedError with a one-line message.
    """
    if not settings.DATABASE_IS_EMBEDDED:
        return
    where = embedded.up(settings.EMBEDDED_DIR)
    address = {"HOST": where.host, "PORT": where.port, "USER": APP_ROLE, "NAME": where.name}
    settings.DATABASES["default"].update(address)
    settings.DATABASE_OWNER["USER"] = where.user


@contextmanager
def as_owner() -> Iterator[None]:
    """Connect as the owner of the tables while the block runs."""
    usual = connection.settings_dict
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # of the PostgreSQL backend
    options = {name: value for name, value in usual["OPTIONS"].items() if name != "pool"}
    connection.settings_dict = {**usual, **settings.DATABASE_OWNER, "OPTIONS": options}
    try:
        with entered(OWNER):
            with connection.cursor() as cursor:
                cursor.execute("set memplatform.migrating = 'on'")  # what its policies ask for
            yield
    finally:
        connection.close()
        connection.settings_dict = usual
