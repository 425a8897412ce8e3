"""Make the configured database available, and limit statements."""

from django.conf import settings

from apps.tenants.scope import APP_ROLE
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

    To be called before the first connection is opened; the last call counts. Behind a pooler the limits are set in
    each transaction, with its scope: a pooler passes no `options` on, and what is set for a session is met by other
    clients.
    """
    for database in settings.DATABASES.values():
        if settings.DB_PREPARE:
            given = database.setdefault("UNLIMITED_OPTIONS", database["OPTIONS"])
            database["OPTIONS"] = limited(given, statement_seconds=seconds, lock_seconds=settings.DB_LOCK_SECONDS)
        else:
            database["LOCAL_LIMITS"] = local_limits(statement_seconds=seconds, lock_seconds=settings.DB_LOCK_SECONDS)
