"""The scope of database access: which rows the statements of this thread see and may write.

The database backend (memplatform/postgresql) sets the scope in each transaction, and row-level security
(memplatform/row_security.py) enforces it. Without a scope no row of any tenant is visible.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

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

    @cached_property
    def settings(self) -> tuple[str, str, str]:
        """Return the values of `role`, `memplatform.project` and `memplatform.end_user`; empty: none."""
        return self.role or "none", _text(self.project_id), _text(self.end_user_id)

    def is_like(self, other: "DatabaseScope") -> bool:
        """Return True if both see the same rows; one of them perhaps faster."""
        return (self.role, self.project_id) == (other.role, other.project_id)


def _text(value: UUID | None) -> str:
    return "" if value is None else str(value)


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
