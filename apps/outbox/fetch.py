"""Run SQL statements and fetch their rows."""

from collections.abc import Sequence
from typing import Any

from django.db import connection

from apps.tenants.constant_statements import fetch_constant
from apps.tenants.scoped_connection import scoped_connection


def fetch(sql: str, values: Any) -> list[tuple[Any, ...]]:
    """Run one statement and return all of its rows."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()


def fetch_each(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Run a constant statement once for each of the values, without waiting in between; return the rows of all."""
    if len(values) == 1:  # the usual case of a claim; a pipeline of psycopg costs more than the statement
        return fetch_constant(sql, values[0])
    database = scoped_connection()
    cursors = []
    with database.wrap_database_errors, database.pipelined():
        for each in values:
            cursor = connection.cursor()
            cursor.execute(sql, each)
            cursors.append(cursor)
    return [row for cursor in cursors for row in cursor.fetchall()]
