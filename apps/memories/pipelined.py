"""Send statements one behind the other without waiting for the answer to each."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def pipelined() -> Iterator[None]:
    """Wait for an answer only where one is fetched, and at the end; a failure is told by whichever waits next."""
    connection.ensure_connection()
    with connection.wrap_database_errors, connection.connection.pipeline():
        yield
