"""Ask the database for rows."""

from typing import Any

from django.db import connection


def fetch(sql: str, values: Any) -> list[tuple[Any, ...]]:
    """Run one statement and return its rows."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()
