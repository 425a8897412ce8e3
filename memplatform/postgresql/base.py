"""The database backend: each statement runs with the role and the tenant of the current scope.

The settings are local to the transaction, so a pooler that assigns connections per transaction can't mix up tenants:

- In a transaction the scope is set with its BEGIN, in one message, and again when it changes or may have been undone.
- A statement outside of a transaction becomes one.
- The scope is set by SET LOCAL: a server with Citus (docs/scale.md) passes that on to the others, and nothing else.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import psycopg
from django.db.backends.postgresql import base, operations
from psycopg.pq import ExecStatus, Format, PipelineStatus, TransactionStatus

from apps.tenants.scope import OWNER, DatabaseScope, current_scope
from memplatform.postgresql.cursors import ClientBindingCursor, ServerBindingCursor, ServerSideCursor

MOST_PARAMETERS = 65_535  # of a statement
_UNKNOWN = DatabaseScope(role="unknown")  # a rollback to a savepoint may have restored another one
_CURSORS = {base.ServerBindingCursor: ServerBindingCursor, base.Cursor: ClientBindingCursor}


class DatabaseOperations(operations.DatabaseOperations):
    """Django's, with our compilers."""

    compiler_module = "memplatform.postgresql.compiler"

    def bulk_batch_size(self, fields: Any, objs: Any) -> int:
        """Return how many rows one statement inserts by VALUES."""
        return int(MOST_PARAMETERS // max(len(fields), 1))


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that knows which scope its open transaction has; None: none was set.

    `before_commit` holds what is still to be done in the open transaction when all else is; in the order of its keys.
    """

    ops_class = DatabaseOperations
    _scope_of_transaction: DatabaseScope | None = None
    _scope_of_pipeline: DatabaseScope | None = None

    def __init__(self, *args: Any, **options: Any) -> None:
        """Begin without anything to do before a commit."""
        super().__init__(*args, **options)
        self.before_commit: dict[str, Callable[[], None]] = {}

    def get_connection_params(self) -> dict[str, Any]:
        """Return the parameters of a connection, with our cursors."""
        parameters = super().get_connection_params()
        parameters["cursor_factory"] = _CURSORS[parameters["cursor_factory"]]
        return parameters

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Return a connection of the pool, or a new one, with a cursor that sets the scope."""
        connection = super().get_new_connection(conn_params)
        self._scope_of_transaction = None
        self.before_commit.clear()
        if not hasattr(connection, "scope_cursor"):
            connection.server_cursor_factory = ServerSideCursor
            connection.scope_cursor = connection.cursor()
            connection.kept_cursors = {}
        return connection

    def create_cursor(self, name: str | None = None) -> Any:
        """Return a cursor that runs its statements in the current scope."""
        cursor = super().create_cursor(name)
        cursor.database = self
        return cursor

    def execute_kept(self, statement: str, values: Any) -> Any:
        """Run a statement by the cursor that the connection keeps for it, and return this cursor.

        It has found out before how to convert the parameters of the statement and the columns of its rows. Statements
        must be constants, as their cursors stay until the connection is closed. Rows have to be taken by `take_rows`
        before the statement runs again, so that the cursor holds no texts of end users.
        """
        if self.connection is None:
            self.ensure_connection()
        kept: dict[str, Any] = self.connection.kept_cursors
        cursor = kept.get(statement)
        if cursor is None:
            cursor = kept[statement] = self.create_cursor()
            cursor.format = Format.BINARY  # of the rows: times take a tenth of what they take as text
        cursor.database = self
        if self.execute_wrappers or self.queries_logged:
            cursor = self._prepare_cursor(cursor)  # type: ignore[attr-defined]  # not in the stubs
        self.validate_no_broken_transaction()
        try:
            with self.wrap_database_errors:
                cursor.execute(statement, values)
        finally:
            cursor.release_parameters()
        return cursor

    def has_scope(self) -> bool:
        """Return True if the next statement needs no other scope than it has."""
        scope = current_scope()
        if self.connection is None:
            return True  # the statement fails
        if self.connection.autocommit:
            return scope is OWNER
        if scope == self._scope_of_transaction or (scope is OWNER and self._scope_of_transaction is None):
            return True
        # In a failed transaction only a rollback is possible, with any scope.
        return bool(self.connection.pgconn.transaction_status == TransactionStatus.INERROR)

    def set_scope(self) -> None:
        """Begin the transaction with its scope, or change that of the open one."""
        former, scope = self._scope_of_transaction or OWNER, current_scope()
        is_open = self.connection.pgconn.transaction_status != TransactionStatus.IDLE
        if not is_open and not self.is_pipelined():
            self.begin()
        else:
            if is_open and former is not _UNKNOWN and not former.is_like(scope):
                self._run_deferred_triggers()
            self.send_scope()
        self._scope_of_transaction = scope

    @contextmanager
    def pipelined(self) -> Iterator[None]:
        """Use psycopg's pipeline mode while the block runs, in a transaction."""
        is_idle = self.connection.pgconn.transaction_status == TransactionStatus.IDLE and not self.is_pipelined()
        is_transaction = self.connection.autocommit and is_idle
        with self.transaction_with_scope() if is_transaction else nullcontext(), self.connection.pipeline():
            self._scope_of_pipeline = current_scope() if is_transaction else None
            try:
                yield
            finally:
                self._scope_of_pipeline = None  # a pipeline within another one ends the transaction of both

    @contextmanager
    def transaction_with_scope(self) -> Iterator[None]:
        """Run the statements of the block, of a connection that commits by itself, in a transaction with the scope."""
        try:
            self.begin()
            yield
        except BaseException:
            if self.connection.pgconn.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
                self.run(b"rollback")
            raise
        self.run(b"commit")

    def set_scope_of_pipeline(self) -> None:
        """Send the scope of a pipeline outside of a transaction, unless it has it."""
        scope = current_scope()
        if scope is not self._scope_of_pipeline and scope != self._scope_of_pipeline:
            self.send_scope()
            self._scope_of_pipeline = scope

    def _run_deferred_triggers(self) -> None:
        """Run the triggers of what the former scope has written: they need to see its rows."""
        for when in ("immediate", "deferred"):
            self.connection.scope_cursor.execute(f"set constraints all {when}")

    def is_pipelined(self) -> bool:
        """Return True in psycopg's pipeline mode."""
        return bool(self.connection.pgconn.pipeline_status != PipelineStatus.OFF)

    def send_scope(self) -> None:
        """Send the statement that sets the scope, and behind a pooler the limits of statements."""
        for statement in self._local_settings():
            self.connection.scope_cursor.execute(statement)

    def begin(self) -> None:
        """Begin a transaction and set its scope, in one message."""
        self.run("; ".join(("begin", *self._local_settings())).encode())

    def _local_settings(self) -> Iterator[str]:
        """Yield the statements that set the scope of a transaction."""
        role, project, end_user = current_scope().settings  # a name of ours, and UUIDs
        yield f"set local role {role}"
        yield f"set local memplatform.project = '{project}'"
        yield f"set local memplatform.end_user = '{end_user}'"
        for name, value in self.settings_dict.get("LOCAL_LIMITS", {}).items():
            yield f"set local {name} = '{value}'"

    def run(self, statements: bytes) -> None:
        """Run statements without parameters or results. Raises what psycopg raises."""
        result = self.connection.pgconn.exec_(statements)
        if result.status != ExecStatus.COMMAND_OK:
            raise psycopg.errors.error_from_result(result)

    def _set_autocommit(self, autocommit: bool) -> None:
        """Set it where it is another one: a connection of the pool has it already, and psycopg would lock it to see."""
        if self.connection.autocommit != autocommit:
            super()._set_autocommit(autocommit)  # type: ignore[misc]  # not in the stubs

    def _commit(self) -> None:
        if self.before_commit:
            # Deferred foreign keys lock the rows that they refer to. What is done before a commit locks a row that
            # writers of these rows wait for, so it comes last: each would else wait for the other.
            with self.wrap_database_errors:
                self.connection.scope_cursor.execute("set constraints all immediate")
        while self.before_commit:
            self.before_commit.pop(min(self.before_commit))()
        self._scope_of_transaction = None
        super()._commit()  # type: ignore[misc]  # not in the stubs

    def _rollback(self) -> None:
        self.before_commit.clear()
        self._scope_of_transaction = None
        super()._rollback()  # type: ignore[misc]  # not in the stubs

    def _savepoint_rollback(self, sid: str) -> None:
        super()._savepoint_rollback(sid)  # type: ignore[misc]  # not in the stubs
        if self._scope_of_transaction is not None:
            self._scope_of_transaction = _UNKNOWN
