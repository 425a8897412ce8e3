"""What PostgreSQL says of the scope of a statement."""

from typing import Any

from django.db import connection

SETTINGS = (
    "select current_user, current_setting('memplatform.project', true), current_setting('memplatform.end_user', true)"
)


def seen() -> tuple[str, str, str]:
    """Return role, project and end user of a statement."""
    with connection.cursor() as cursor:
        cursor.execute(SETTINGS)
        role, project, user = cursor.fetchone()
    return role, project or "", user or ""


def fetch(sql: str, values: Any) -> list[tuple[Any, ...]]:
    """Run one statement and return all of its rows."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()
