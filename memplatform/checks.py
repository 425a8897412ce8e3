"""The system check of the database: it can be reached, and is new enough."""

from collections.abc import Iterable
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register
from django.db import DatabaseError, connection

LEAST_POSTGRESQL = (16,)


@register(Tags.database)
def check_database(databases: Iterable[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Report a database that is unreachable or too old."""
    if not databases:
        return []
    try:
        version = connection.get_database_version()
    except DatabaseError as error:
        return [Error(f"the database can't be reached: {error}", id="memplatform.E001")]
    if version < LEAST_POSTGRESQL:
        return [Error(f"PostgreSQL 16 or newer is needed; this is {version[0]}", id="memplatform.E002")]
    return []
