"""Run one SQL statement and fetch its rows."""

from typing import Any

from django.db import connection


def fetch(sql: str, values: Any) -> list[tuple[Any, ...]]:
    """Run one statement and return all of its rows."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()
