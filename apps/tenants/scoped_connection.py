"""The connection with what our database backend (memplatform/postgresql) adds to Django's."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar, cast

from django.db import DEFAULT_DB_ALIAS, connections

Form = TypeVar("Form")


class ScopedConnection(Protocol):
    """A connection whose statements run in the current scope; the methods are described at the backend."""

    wrap_database_errors: AbstractContextManager[None]
    in_atomic_block: bool
    before_commit: dict[str, Callable[[], None]]  # what the open transaction does when all else is done

    @property
    def has_citus(self) -> bool:
        """Return True if it leads to the coordinator of several servers."""

    def ensure_connection(self) -> None:
        """Connect, unless it is connected."""

    def execute_kept(self, statement: str, values: Any) -> Any:
        """Run a constant statement by the cursor that is kept for it."""

    def pipelined(self) -> AbstractContextManager[None]:
        """Use psycopg's pipeline mode while the block runs."""

    def pipelined_transaction(self) -> AbstractContextManager[None]:
        """Run the block in one transaction and in pipeline mode."""


def scoped_connection() -> ScopedConnection:
    """Return the connection of this thread, connected: itself, as Django's proxy finds it anew for each attribute."""
    database = connections[DEFAULT_DB_ALIAS]
    if database.connection is None:
        database.ensure_connection()
    return cast(ScopedConnection, database)


def form_for_database(*, usual: Form, on_citus: Form, database: Any = None) -> Form:
    """Return the statement, or the function, that the database needs; `database` is another one than the default.

    Citus refuses some statements that are quicker on one server, and does not see that others touch one shard alone.
    The only place in apps that asks which of both the database is: whoever calls it has two forms of one thing.
    """
    return on_citus if (database or scoped_connection()).has_citus else usual
