"""The connection with what our database backend (memplatform/postgresql) adds to Django's."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol, cast

from django.db import DEFAULT_DB_ALIAS, connections


class ScopedConnection(Protocol):
    """A connection whose statements run in the current scope; the methods are described at the backend."""

    wrap_database_errors: AbstractContextManager[None]
    in_atomic_block: bool
    before_commit: dict[str, Callable[[], None]]  # what the open transaction does when all else is done

    def ensure_connection(self) -> None:
        """Connect, unless it is connected."""

    def execute_kept(self, statement: str, values: Any) -> Any:
        """Run a constant statement by the cursor that is kept for it."""

    def pipelined(self) -> AbstractContextManager[None]:
        """Use psycopg's pipeline mode while the block runs, in a transaction."""


def scoped_connection() -> ScopedConnection:
    """Return the connection of this thread, connected: itself, as Django's proxy finds it anew for each attribute."""
    database = connections[DEFAULT_DB_ALIAS]
    if database.connection is None:
        database.ensure_connection()
    return cast(ScopedConnection, database)
