"""System checks of the database: version, pgvector, privileges."""

from collections.abc import Iterable
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register
from django.db import DatabaseError, connection

LEAST_POSTGRESQL = 160_000


@register(Tags.database)
def check_database(databases: Iterable[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Report a database that is unreachable, too old, or without pgvector and the privilege to create it."""
    if not databases:
        return []
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "select current_setting('server_version_num')::int,"
                " (select default_version from pg_available_extensions where name = 'vector'),"
                " exists (select from pg_extension where extname = 'vector'),"
                " has_database_privilege(current_database(), 'CREATE')"
            )
            version, available, installed, may_create = cursor.fetchone()
    except DatabaseError as error:
        return [Error(f"the database can't be reached: {error}", id="memplatform.E001")]
    return list(_problems(version=version, available=available, installed=installed, may_create=may_create))


def _problems(*, version: int, available: str | None, installed: bool, may_create: bool) -> Iterable[CheckMessage]:
    if version < LEAST_POSTGRESQL:
        yield Error(f"PostgreSQL 16 or newer is needed; this is {version // 10_000}", id="memplatform.E002")
    if available is None:
        yield Error("the server has no pgvector: install the extension's package on it", id="memplatform.E003")
    if not installed and not may_create:
        yield Error(
            "pgvector is not in this database and the role may not create it: run CREATE EXTENSION vector as its owner",
            id="memplatform.E004",
        )
