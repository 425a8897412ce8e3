"""Remember for a moment that the database refused a write: full disks of other machines are noticed in no other way."""

import time

from apps.outbox.outages import DISK_FULL, READ_ONLY, sqlstate_of

RECENT_SECONDS = 30.0
_last = float("-inf")


def note(error: Exception) -> None:
    """Remember an error that says that nothing can be written."""
    global _last
    if sqlstate_of(error) in (DISK_FULL, READ_ONLY):
        _last = time.monotonic()


def is_recent() -> bool:
    """Return True if a write of this process was refused within the last RECENT_SECONDS."""
    return time.monotonic() - _last < RECENT_SECONDS
