"""Manual operations on outbox rows: retry rows, or discard one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from apps.outbox.fetch import fetch
from apps.pipeline.core.enums import WorkKind

_LOCK_LEASE = """
select leased_until > clock_timestamp() from outbox_userlease where end_user_id = %(end_user)s for update
"""
_RETRY = """
update outbox_outboxrow set state = 'pending', attempts = 0, run_at = statement_timestamp(), waiting_since = null,
    finished_at = null
where end_user_id = %(end_user)s and id = %(row)s and state in ('pending', 'dead')
returning id
"""
_DISCARD = """
update outbox_outboxrow set state = 'dead', finished_at = statement_timestamp(), last_error = %(error)s
where end_user_id = %(end_user)s and id = %(row)s
  and (state = 'pending' or (state = 'running' and not %(is_leased)s))
returning id
"""
_MARK_READY = """
update outbox_userlease set ready_at = least(ready_at, statement_timestamp()), waits_for = ''
where end_user_id = %(end_user)s
"""

_RETRY_DEAD = """
update outbox_outboxrow set state = 'pending', attempts = 0, run_at = statement_timestamp(), waiting_since = null,
    finished_at = null
where end_user_id = any(%(end_users)s) and id = any(%(rows)s) and state = 'dead'
returning end_user_id, kind, subject_id
"""
_MARK_ALL_READY = """
update outbox_userlease set ready_at = least(ready_at, statement_timestamp()), waits_for = ''
where end_user_id = any(%(end_users)s)
"""


@dataclass(frozen=True, slots=True)
class RetriedRow:
    """A row that was dead and is due now."""

    end_user_id: UUID
    kind: WorkKind
    subject_id: UUID


def retry_dead(*, row_ids: Sequence[int], end_user_ids: Sequence[UUID]) -> list[RetriedRow]:
    """Make the dead ones of these rows due now and reset their attempts; return them.

    The leases of the end users stay locked until the caller's transaction ends.
    """
    users = sorted(set(end_user_ids))
    for each in users:  # in one order; Citus locks rows of one end user for each statement
        fetch(_LOCK_LEASE, {"end_user": each})
    found = fetch(_RETRY_DEAD, {"end_users": users, "rows": list(row_ids)})
    retried = [RetriedRow(user, WorkKind(kind), subject) for user, kind, subject in found]
    with connection.cursor() as cursor:
        cursor.execute(_MARK_ALL_READY, {"end_users": sorted({each.end_user_id for each in retried})})
    return retried


def retry(*, end_user_id: UUID, row_id: int) -> bool:
    """Make a dead or pending row due now and reset its attempts; return False if it is neither."""
    return _change_row(_RETRY, {"end_user": end_user_id, "row": row_id})


def discard(*, end_user_id: UUID, row_id: int, error: str) -> bool:
    """Mark an open row as dead, so that the rows behind it can run.

    Return False if it is closed or a worker is processing it.
    """
    return _change_row(_DISCARD, {"end_user": end_user_id, "row": row_id, "error": error[:4_000]})


def _change_row(sql: str, values: dict[str, Any]) -> bool:
    """Change one row; lock the lease first, as workers do, to avoid deadlocks."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_LOCK_LEASE, values)
        is_leased = any(is_leased for (is_leased,) in cursor.fetchall())
        cursor.execute(sql, {**values, "is_leased": is_leased})
        changed = bool(cursor.fetchall())
        if changed:
            cursor.execute(_MARK_READY, values)
    return changed
