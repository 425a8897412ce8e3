"""Run SQL statements whose rows are read as values: a column of type jsonb arrives as values, not as text."""

from typing import Any

from django.db import connection
from psycopg.pq import Format


def run_constant(sql: str, values: Any) -> Any:
    """Run a statement; return its cursor."""
    cursor: Any = connection.cursor()
    cursor.cursor.format = Format.BINARY
    cursor.execute(sql, values)
    return cursor


def fetch_constant(sql: str, values: Any) -> list[tuple[Any, ...]]:
    """Run a statement and return all of its rows."""
    rows: list[tuple[Any, ...]] = run_constant(sql, values).fetchall()
    return rows
