"""Send statements one behind the other without waiting for the answer to each."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from apps.memories.write_conflicts import stale_on_write_conflict


@contextmanager
def pipelined() -> Iterator[None]:
    """Wait for an answer only where one is fetched, and at the end; a failure is told by whichever waits next.

    Raises StalePlan where somebody else has written the same meanwhile.
    """
    connection.ensure_connection()
    with stale_on_write_conflict(), connection.wrap_database_errors, connection.connection.pipeline():
        yield
