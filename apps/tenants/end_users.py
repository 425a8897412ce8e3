"""Locks on an end user's row, so that nothing is written while or after the user is erased.

An erasure starts by locking the row exclusively and marking it. Every writer takes a lock that conflicts with this one
before it writes: the erasure waits for writers that came first, and later writers see the mark.

Whoever writes memories, or what hangs on them, locks the row for itself as the first lock of the transaction. One
transaction at a time writes the memories of an end user, so the order in which these rows are locked does not matter.
Requests with turns only keep an erasure from starting, and wait for no writer of memories here.
"""

from uuid import UUID

from apps.tenants.constant_statements import fetch_constant, run_constant

_IS_ERASING = "select erasing_since is not null from tenants_enduser where id = %s for key share"
_LOCK_OUT_WRITERS = "select erasing_since is not null from tenants_enduser where id = %s for no key update"


class UserBeingErased(Exception):
    """The end user is being erased; requests are accepted again afterwards, and start from nothing."""


def keep_from_erasure(end_user_id: UUID) -> None:
    """Keep an erasure of the end user from starting until the transaction ends. Raises UserBeingErased."""
    _refuse_erased(_IS_ERASING, end_user_id)


def keep_from_writers(end_user_id: UUID) -> None:
    """Let nobody else write memories of the end user, nor erase it, until the transaction ends.

    Raises UserBeingErased.
    """
    _refuse_erased(_LOCK_OUT_WRITERS, end_user_id)


def wait_for_writers(end_user_id: UUID) -> None:
    """Lock out other writers as `keep_from_writers` does, for work under a lease.

    It need not look for an erasure, which revokes the lease.
    """
    run_constant(_LOCK_OUT_WRITERS, [end_user_id])


def _refuse_erased(statement: str, end_user_id: UUID) -> None:
    rows = fetch_constant(statement, [end_user_id])
    if rows and rows[0][0]:
        raise UserBeingErased("the end user is being erased")
