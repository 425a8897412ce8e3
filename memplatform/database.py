"""Make the configured database available."""

from django.conf import settings

from memplatform import embedded


def ensure_database() -> None:
    """Start the embedded PostgreSQL if it is configured; it is never stopped here.

    Raises embedded.EmbeddedError with a one-line message.
    """
    if not settings.DATABASE_IS_EMBEDDED:
        return
    where = embedded.up(settings.EMBEDDED_DIR)
    address = {"HOST": where.host, "PORT": where.port, "USER": where.user, "NAME": where.name}
    settings.DATABASES["default"].update(address)
