"""psycopg's pipeline mode: send several statements without waiting for the result of each."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

from apps.memories.write_conflicts import stale_on_write_conflict
from apps.tenants.scoped_connection import scoped_connection


@contextmanager
def pipelined(database: Any = connection) -> Iterator[None]:
    """Wait for results only where rows are fetched, and at the end of the block; errors are raised there as well.

    Raises StalePlan if a concurrent writer has written the same.
    """
    database.ensure_connection()
    with stale_on_write_conflict(), database.wrap_database_errors, database.pipelined():
        yield


@contextmanager
def pipelined_transaction() -> Iterator[None]:
    """Run the block in one transaction and in pipeline mode.

    Waits for results only where rows are fetched, and at the end of the block. An exception rolls everything back,
    unless the block is a part of the caller's transaction.
    """
    database = scoped_connection()
    with database.wrap_database_errors, database.pipelined():
        yield
