"""Tell failures of the database itself from those of one statement."""

import time

from django.db import Error, InterfaceError, InternalError, OperationalError

OUTAGES = (OperationalError, InterfaceError, InternalError)  # which is_outage() tells apart
DISK_FULL, READ_ONLY = "53100", "25006"  # SQLSTATE
_LOCKED = frozenset({"40P01", "55P03", "40001"})  # a deadlock, a lock that was not given in time, a lost race
# A server that became a standby, and sessions that it has ended, are reported as internal errors.
_INTERNAL = frozenset({READ_ONLY, "25P03", "25P04"})

REFUSED_SECONDS = 15.0  # a write that was refused so long ago says nothing about now
_refused_at: dict[str, float] = {}  # by SQLSTATE


def note_refusal(error: Exception) -> None:
    """Remember that the database refused a write: full disks of other machines are noticed in no other way."""
    if (code := sqlstate_of(error)) in (DISK_FULL, READ_ONLY):
        _refused_at[code] = time.monotonic()


def was_refused(code: str) -> bool:
    """Return True if a write of this process was refused for this reason a moment ago."""
    return time.monotonic() - _refused_at.get(code, float("-inf")) < REFUSED_SECONDS


def is_outage(error: Exception) -> bool:
    """Return True if the database is away, full, read-only or overloaded, so that the same may succeed later."""
    return isinstance(error, OperationalError | InterfaceError) or (
        isinstance(error, InternalError) and sqlstate_of(error) in _INTERNAL
    )


def is_locked_out(error: Exception) -> bool:
    """Return True if the database has ended a statement because others held the same rows; it works, and has undone it.

    Such an error is an outage as well: the same may succeed later.
    """
    return sqlstate_of(error) in _LOCKED


def sqlstate_of(error: Exception) -> str:
    """Return PostgreSQL's code of an error of Django, empty if there is none."""
    return str(getattr(error.__cause__, "sqlstate", None) or "") if isinstance(error, Error) else ""
