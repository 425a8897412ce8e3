"""Count the rows of every table, to check that nothing was written."""

from functools import cache

from django.apps import apps
from django.db import connection


def rows_by_table() -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(_counts())
        return dict(cursor.fetchall())


@cache
def _counts() -> str:
    """Return one statement for all tables: a test that sends many bodies counts after each."""
    tables = sorted({model._meta.db_table for model in apps.get_models()})
    return " union all ".join(f"select '{table}', count(*) from \"{table}\"" for table in tables)
