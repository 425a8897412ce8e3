"""What a person does to owed work: retry rows, or bury one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from apps.outbox.fetch import fetch
from apps.pipeline.core.enums import WorkKind

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


_HOLD_ALL = """
select 1 from outbox_userlease where end_user_id = any(%(end_users)s) order by end_user_id for update
"""
_RETRY_ALL = """
update outbox_outboxrow set state = 'pending', attempts = 0, run_at = clock_timestamp(), waiting_since = null,
    finished_at = null
where end_user_id = any(%(end_users)s) and id = any(%(rows)s) and state = 'dead'
returning end_user_id, kind, subject_id
"""
_WAKE_ALL = """
update outbox_userlease set ready_at = least(ready_at, clock_timestamp()), waits_for = ''
where end_user_id = any(%(end_users)s)
"""


@dataclass(frozen=True, slots=True)
class Revived:
    """A row that was dead and is due now."""

    end_user_id: UUID
    kind: WorkKind
    subject_id: UUID


def retry_dead(*, row_ids: Sequence[int], end_user_ids: Sequence[UUID]) -> list[Revived]:
    """Make dead rows of these end users due now, their attempts counted from the start; return those that were dead.

    The leases stay locked until the caller's transaction ends.
    """
    values = {"end_users": sorted(set(end_user_ids)), "rows": list(row_ids)}
    fetch(_HOLD_ALL, values)
    revived = [Revived(user, WorkKind(kind), subject) for user, kind, subject in fetch(_RETRY_ALL, values)]
    with connection.cursor() as cursor:
        cursor.execute(_WAKE_ALL, {"end_users": sorted({each.end_user_id for each in revived})})
    return revived


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
