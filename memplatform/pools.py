"""Database connections after a fork: a child process never uses connections of its parent."""

import os
from typing import Any

from django.db import connections
from django.db.backends.postgresql.base import DatabaseWrapper

# References are kept forever: collecting a pool would close sockets that the parent still uses.
_inherited: list[Any] = []


def forget_after_fork() -> None:
    """Make every forked child start without connections; call once per process."""
    os.register_at_fork(after_in_child=_forget)


def _forget() -> None:
    """Drop pools and connections without closing them: closing would write to sockets that the parent uses."""
    pools: dict[str, Any] = vars(DatabaseWrapper)["_connection_pools"]  # there is no other way to drop one unclosed
    _inherited.extend(pools.values())
    pools.clear()
    for wrapper in connections.all(initialized_only=True):
        if wrapper.connection is not None:
            _inherited.append(wrapper.connection)
            wrapper.connection = None
