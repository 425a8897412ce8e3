"""Run constant SQL statements by cursors that the connection keeps.

That saves half of what psycopg and Django compute for a statement. Columns are converted from PostgreSQL's binary form,
so a column of type jsonb arrives as values, not as text.
"""

from typing import Any

from apps.tenants.scoped_connection import scoped_connection


def run_constant(sql: str, values: Any) -> Any:
    """Run a statement that is sent often, a constant; return its cursor.

    `take_rows()` of the cursor reads its rows, before the statement runs again, and lets go of them.
    """
    return scoped_connection().execute_kept(sql, values)


def fetch_constant(sql: str, values: Any) -> list[tuple[Any, ...]]:
    """Run a statement that is sent often, a constant, and return all of its rows."""
    rows: list[tuple[Any, ...]] = run_constant(sql, values).take_rows()
    return rows
