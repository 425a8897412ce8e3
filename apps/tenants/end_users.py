"""The lock on an end user's row, so that nothing is written while or after the user is erased.

An erasure starts by locking the row and marking it. Everything else that writes rows of an end user locks the row as
the first lock of its transaction: the erasure waits for transactions that came first, and later ones see the mark.
One transaction at a time writes the memories of an end user, so the order in which these rows are locked does not
matter. The lock does not conflict with foreign keys that refer to the user.
"""

from uuid import UUID

from apps.common.errors import Conflict
from apps.tenants.models import EndUser


class UserBeingErased(Conflict):
    """The end user is being erased; requests are accepted again afterwards, and start from nothing."""


def keep_from_writers(end_user_id: UUID) -> None:
    """Lock the end user until the transaction ends: no other writer, and no erasure. Raises UserBeingErased."""
    if wait_for_writers(end_user_id):
        raise UserBeingErased("the end user is being erased")


def wait_for_writers(end_user_id: UUID) -> bool:
    """Lock the end user as `keep_from_writers` does; return True if an erasure is going on.

    Work under a lease need not look at that, since an erasure revokes the lease.
    """
    locked = EndUser.objects.select_for_update(no_key=True).filter(id=end_user_id)
    return any(since is not None for since in locked.values_list("erasing_since", flat=True))
