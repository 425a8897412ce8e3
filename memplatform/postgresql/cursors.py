"""Cursors whose statements run in the current scope (base.py tells how it is set)."""

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import psycopg
from django.db import NotSupportedError
from django.db.backends.postgresql import base

if TYPE_CHECKING:
    from memplatform.postgresql.base import DatabaseWrapper

    _Cursor = psycopg.Cursor[Any]  # what each class below is, beside _Scoped
else:
    _Cursor = object


class _Scoped(_Cursor):
    """A cursor whose statements run in the current scope; without `database`, as on a bare connection."""

    database: "DatabaseWrapper | None" = None
    connection: Any
    _query: Any  # what psycopg has sent, with its parameters

    def execute(self, *args: Any, **options: Any) -> Any:
        """Execute a statement in the current scope."""
        database = self.database
        if database is None or database.has_scope():
            return super().execute(*args, **options)
        if database.connection.autocommit:
            return self._execute_alone(database, *args, **options)
        database.set_scope()
        return super().execute(*args, **options)

    def _execute_alone(self, database: "DatabaseWrapper", *args: Any, **options: Any) -> Any:
        if database.is_pipelined():  # a nested pipeline would wait for its results
            database.set_scope_of_pipeline()
            return super().execute(*args, **options)
        with database.transaction_with_scope():
            return super().execute(*args, **options)

    def take_rows(self) -> list[tuple[Any, ...]]:
        """Return all rows and let go of them. Raises Django's errors, also those that a pipeline tells only now."""
        try:
            with self.database.wrap_database_errors if self.database else nullcontext():
                rows: list[tuple[Any, ...]] = self.fetchall()
            return rows
        finally:
            self._reset()
            self._tx.set_pgresult(None, set_loaders=False)

    def release_parameters(self) -> None:
        """Let go of the parameters of the last statement, which has been sent, or is in the queue of a pipeline."""
        self._query = None

    def executemany(self, *args: Any, **options: Any) -> Any:
        """Refuse, as `copy` and `stream`: these don't set a scope."""
        raise NotSupportedError("use execute(), which sets the scope")

    copy: Any = executemany
    stream: Any = executemany


class ServerBindingCursor(_Scoped, base.ServerBindingCursor):
    """A cursor with parameters bound by the server."""


class ClientBindingCursor(_Scoped, base.Cursor):
    """A cursor with parameters bound by the client."""


class ServerSideCursor(_Scoped, psycopg.ServerCursor[Any]):
    """A cursor that fetches its rows in parts. They are chosen in the scope in which it was opened."""

    def _execute_alone(self, database: "DatabaseWrapper", *args: Any, **options: Any) -> Any:
        with database.transaction_with_scope():
            return psycopg.ServerCursor.execute(self, *args, **options)
