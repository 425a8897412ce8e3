"""The scope of database access: which rows the statements of this thread see and may write.

Each transaction gets the scope by `set_config(…, true)` before its first statement, and row-level security
(memplatform/row_security.py) enforces it. Without a scope no row of any tenant is visible. The settings end with the
transaction, so a pooler that assigns connections per transaction can't mix up tenants.

A scope does not open a transaction itself: it may include the call of a model, and meanwhile no connection may be held.
A statement outside of a transaction therefore becomes one.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.pq import TransactionStatus

APP_ROLE = "memplatform_app"  # owns nothing, and can't bypass row-level security
SYSTEM_ROLE = "memplatform_system"  # the same, with policies that show it the rows of all projects


@dataclass(frozen=True)
class DatabaseScope:
    """A role of the database, and the project and end user whose rows it sees.

    Without a role, statements run as the user that is connected.
    """

    role: str = APP_ROLE
    project_id: UUID | None = None
    end_user_id: UUID | None = None


NO_TENANT = DatabaseScope()
SYSTEM = DatabaseScope(role=SYSTEM_ROLE)
OWNER = DatabaseScope(role="")  # of migrations, which change tables, and of the set-up of tests

_current: ContextVar[DatabaseScope] = ContextVar("scope")
_default = NO_TENANT


class OtherProject(Exception):
    """Code that works for one project tried to reach another one."""


def current_scope() -> DatabaseScope:
    """Return the scope of this thread."""
    return _current.get(_default)


def set_default_scope(scope: DatabaseScope) -> None:
    """Set the scope of threads that have entered none, for the whole process."""
    global _default
    _default = scope


@contextmanager
def entered(scope: DatabaseScope) -> Iterator[None]:
    """Use a scope while the block runs; product code calls the functions below and `system_scope` instead."""
    token = _current.set(scope)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def tenant_scope(*, project_id: UUID, end_user_id: UUID | None = None) -> Iterator[None]:
    """See and write only rows of one project while the block runs. Raises OtherProject inside the scope of another.

    With `end_user_id`, which must be of this project, tables without a project are read faster, and rows of an end
    user who is created by the same statement may be written. Don't yield from a generator inside the block: the scope
    would be that of the consumer, too.
    """
    outer = current_scope().project_id
    if outer not in (None, project_id):
        raise OtherProject(f"the scope is that of project {outer}, not {project_id}")
    # As `entered` does, without a second context manager: each request and each step of work comes here.
    token = _current.set(DatabaseScope(project_id=project_id, end_user_id=end_user_id))
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def no_tenant() -> Iterator[None]:
    """Begin without any tenant, at the entrances of the product: a request, a task, a command."""
    with entered(NO_TENANT):
        yield


def add_scope_to_statements(connection: BaseDatabaseWrapper, **_: object) -> None:
    """Let the statements of a connection run in the current scope; a receiver of `connection_created`."""
    if _in_scope not in connection.execute_wrappers:
        connection.execute_wrappers.append(_in_scope)


def _in_scope(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
    """Set the scope of the transaction before a statement, where it is not set yet or is another one."""
    database: Any = context["connection"]
    scope = current_scope()
    status = database.connection.pgconn.transaction_status
    in_force = OWNER if status == TransactionStatus.IDLE else getattr(database, "scope_in_force", None)
    if sql.startswith("ROLLBACK TO SAVEPOINT"):
        database.scope_in_force = None  # it restores the scope of that time
        return execute(sql, params, many, context)
    if scope == in_force or status == TransactionStatus.INERROR:  # then nothing but a rollback is possible
        database.scope_in_force = in_force
        return execute(sql, params, many, context)
    if database.in_atomic_block:
        _set_scope(database, scope)
        return execute(sql, params, many, context)
    with transaction.atomic(using=database.alias):
        _set_scope(database, scope)
        return execute(sql, params, many, context)


def _set_scope(database: Any, scope: DatabaseScope) -> None:
    """Set role and tenant of the open transaction, and behind a pooler the limits of its statements."""
    settings = {
        "role": scope.role or "none",
        "memplatform.project": str(scope.project_id or ""),
        "memplatform.end_user": str(scope.end_user_id or ""),
        **database.settings_dict.get("LOCAL_LIMITS", {}),
    }
    calls = ", ".join("set_config(%s, %s, true)" for _ in settings)
    with database.wrap_database_errors:
        database.connection.execute(f"select {calls}", [text for pair in settings.items() for text in pair])
    database.scope_in_force = scope
