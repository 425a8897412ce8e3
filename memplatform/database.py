"""Bring up the database that the settings name."""

from django.conf import settings

from memplatform import embedded


def ensure_database() -> None:
    """Start the embedded PostgreSQL when it is the one in use; never stop it.

    Raises embedded.EmbeddedError with one line that says what is missing.
    """
    if not settings.DATABASE_IS_EMBEDDED:
        return
    where = embedded.up(settings.EMBEDDED_DIR)
    address = {"HOST": where.host, "PORT": where.port, "USER": where.user, "NAME": where.name}
    settings.DATABASES["default"].update(address)
