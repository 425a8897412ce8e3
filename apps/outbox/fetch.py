"""Run SQL statements and fetch their rows."""

from collections.abc import Sequence
from typing import Any

from django.db import connection


def fetch(sql: str, values: Any) -> list[tuple[Any, ...]]:
    """Run one statement and return all of its rows."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()


def fetch_each(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Run a statement once for each of the values, without waiting in between, and return the rows of all."""
    if len(values) == 1:  # the usual case of a claim; a pipeline of psycopg costs more than the statement
        return fetch(sql, values[0])
    connection.ensure_connection()
    cursors = []
    with connection.wrap_database_errors, connection.pipelined():  # type: ignore[attr-defined]  # of our backend
        for each in values:
            cursor = connection.cursor()
            cursor.execute(sql, each)
            cursors.append(cursor)
    return [row for cursor in cursors for row in cursor.fetchall()]
