"""Make the configured database available, and connect to it as the owner of its tables."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection

from apps.tenants.scope import APP_ROLE, OWNER, entered
from memplatform import embedded
from memplatform.database_settings import limited, local_limits


def ensure_database() -> None:
    """Start the embedded PostgreSQL if it is configured; it is never stopped here.

    Raises embedded.EmbeddedError with a one-line message.
    """
    if not settings.DATABASE_IS_EMBEDDED:
        return
    where = embedded.up(settings.EMBEDDED_DIR)
    settings.DATABASES["default"].update(HOST=where.host, PORT=where.port, USER=APP_ROLE, NAME=where.name)
    settings.DATABASE_OWNER["USER"] = where.user


def limit_statements(*, seconds: float) -> None:
    """Let the server cancel statements of this process after so long, and waits for locks after DB_LOCK_SECONDS.

    To be called before the first connection is opened. Behind a pooler the limits are set in each transaction, with
    its scope: a pooler passes no `options` on, and what is set for a session is met by other clients.
    """
    for database in settings.DATABASES.values():
        if settings.DB_PREPARE:
            database["OPTIONS"] = limited(
                database["OPTIONS"], statement_seconds=seconds, lock_seconds=settings.DB_LOCK_SECONDS
            )
        else:
            database["LOCAL_LIMITS"] = local_limits(statement_seconds=seconds, lock_seconds=settings.DB_LOCK_SECONDS)


@contextmanager
def as_owner() -> Iterator[None]:
    """Connect as the owner of the tables while the block runs.

    Statements may take as long as they need, but wait for a lock no longer than DB_MIGRATION_LOCK_SECONDS: whoever
    waits for the lock of a table makes everybody behind wait as well.
    """
    usual = connection.settings_dict
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # of the PostgreSQL backend
    options = {name: value for name, value in usual["OPTIONS"].items() if name != "pool"}
    owner = {**settings.DATABASE_OWNER, "OPTIONS": {**options, **settings.DATABASE_OWNER_OPTIONS}}
    connection.settings_dict = {**usual, **owner}
    try:
        with entered(OWNER):
            with connection.cursor() as cursor:
                cursor.execute(
                    "select set_config('memplatform.migrating', 'on', false),"  # what its policies ask for
                    " set_config('statement_timeout', '0', false), set_config('lock_timeout', %s, false)",
                    [f"{settings.DB_MIGRATION_LOCK_SECONDS * 1_000:.0f}"],
                )
            yield
    finally:
        connection.close()
        connection.settings_dict = usual
