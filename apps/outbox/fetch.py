"""Run SQL statements and fetch their rows."""

from collections.abc import Sequence
from typing import Any

from django.db import connection

from apps.tenants.constant_statements import fetch_constant


def fetch(sql: str, values: Any) -> list[tuple[Any, ...]]:
    """Run one statement and return all of its rows."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()


def fetch_each(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Run a constant statement once for each of the values and return the rows of all."""
    return [row for each in values for row in fetch_constant(sql, each)]
