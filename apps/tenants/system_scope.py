"""The one way to rows of all projects, for work that concerns the whole system.

tests/tenants/test_system_scope.py lists every caller; a new one needs its line there.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

from apps.tenants.scope import SYSTEM, entered


class SystemWork(StrEnum):
    """Why code may see the rows of all projects."""

    KEY_LOOKUP = "find the project of an API key"
    PROJECT_LOOKUP = "find the projects of a person, or one by its name"
    INVITATION_LOOKUP = "find the project that an invitation leads to"
    PROJECT_CREATION = "create a project"
    QUEUE = "claim and renew work of all projects"
    WAITING_CALLERS = "see which of the traces and events that callers wait for are there"
    HEALTH = "report the state of the whole service"
    SCHEDULE = "find the projects and end users that a scheduled task is due for"
    RETENTION = "delete what chosen traces of a project contain"
    LEDGER = "seal and remove entries of the ledger"
    ADMIN = "show all projects to a superuser in Django's admin"
    MAINTENANCE = "run a maintenance command over all projects"


@contextmanager
def system_scope(reason: SystemWork) -> Iterator[None]:
    """See and write the rows of all projects while the block runs."""
    with entered(SYSTEM):
        yield
