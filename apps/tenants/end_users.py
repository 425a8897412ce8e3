"""Locks on an end user's row, so that nothing is written while or after the user is erased.

An erasure starts by locking the row exclusively and marking it. Every writer takes a lock that conflicts with this one
before it writes: the erasure waits for writers that came first, and later writers see the mark.
"""

from uuid import UUID

from django.db import connection

_IS_ERASING = "select erasing_since is not null from tenants_enduser where id = %s for key share"


class UserBeingErased(Exception):
    """The end user is being erased; requests are accepted again afterwards, and start from nothing."""


def keep_from_erasure(end_user_id: UUID) -> None:
    """Keep an erasure of the end user from starting until the transaction ends. Raises UserBeingErased."""
    with connection.cursor() as cursor:
        cursor.execute(_IS_ERASING, [end_user_id])
        row = cursor.fetchone()
    if row is not None and row[0]:
        raise UserBeingErased("the end user is being erased")
