"""What a person does to owed work: retry a row, or bury it."""

from typing import Any
from uuid import UUID

from django.db import connection, transaction

_HOLD = """
select leased_until > clock_timestamp() from outbox_userlease where end_user_id = %(end_user)s for update
"""
_RETRY = """
update outbox_outboxrow set state = 'pending', attempts = 0, run_at = clock_timestamp(), waiting_since = null,
    finished_at = null
where end_user_id = %(end_user)s and id = %(row)s and state in ('pending', 'dead')
returning id
"""
_BURY = """
update outbox_outboxrow set state = 'dead', finished_at = clock_timestamp(), last_error = %(error)s
where end_user_id = %(end_user)s and id = %(row)s
  and (state = 'pending' or (state = 'running' and not %(is_leased)s))
returning id
"""
_WAKE = """
update outbox_userlease set ready_at = least(ready_at, clock_timestamp()), waits_for = ''
where end_user_id = %(end_user)s
"""


def retry(*, end_user_id: UUID, row_id: int) -> bool:
    """Make a dead or waiting row due now, its attempts counted anew; tell whether it was one of those."""
    return _settle(_RETRY, {"end_user": end_user_id, "row": row_id})


def discard(*, end_user_id: UUID, row_id: int, error: str) -> bool:
    """Give a row up; tell whether it was open and no worker was at it. What waited behind it is ready now."""
    return _settle(_BURY, {"end_user": end_user_id, "row": row_id, "error": error[:4_000]})


def _settle(sql: str, values: dict[str, Any]) -> bool:
    """Change one row; the lease is locked first, as workers do, so that nobody deadlocks."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_HOLD, values)
        is_leased = any(is_leased for (is_leased,) in cursor.fetchall())
        cursor.execute(sql, {**values, "is_leased": is_leased})
        changed = bool(cursor.fetchall())
        if changed:
            cursor.execute(_WAKE, values)
    return changed
