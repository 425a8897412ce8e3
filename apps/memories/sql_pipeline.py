"""psycopg's pipeline mode: send several statements without waiting for the result of each."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from apps.memories.write_conflicts import stale_on_write_conflict


@contextmanager
def pipelined() -> Iterator[None]:
    """Wait for results only where rows are fetched, and at the end of the block; errors are raised there as well.

    Raises StalePlan if a concurrent writer has written the same.
    """
    connection.ensure_connection()
    with stale_on_write_conflict(), connection.wrap_database_errors, connection.pipelined():  # type: ignore[attr-defined]  # of our backend
        yield
