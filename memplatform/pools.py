"""Database connections after a fork: a child never touches what it inherited from its parent."""

import os
from typing import Any

from django.db import connections
from django.db.backends.postgresql.base import DatabaseWrapper

# Held for good: collecting a pool would close sockets that the parent still uses.
_left_to_the_parent: list[Any] = []


def forget_after_fork() -> None:
    """Make every child of this process begin without connections; call once a process."""
    os.register_at_fork(after_in_child=_forget)


def _forget() -> None:
    """Let go of pools and connections without a word on their sockets: two processes on one mix up its protocol."""
    pools: dict[str, Any] = vars(DatabaseWrapper)["_connection_pools"]  # there is no other way to drop one unclosed
    _left_to_the_parent.extend(pools.values())
    pools.clear()
    for wrapper in connections.all(initialized_only=True):
        if wrapper.connection is not None:
            _left_to_the_parent.append(wrapper.connection)
            wrapper.connection = None
