"""Add work to the outbox: one row per subject, and mark its end user as ready. All times are the database's.

Every transaction takes its locks in the same order, which prevents deadlocks (docs/decisions/outbox.md): end user,
session, memories, lease, outbox rows, trace. A transaction that accepts a request or writes memories therefore enqueues
its work last.
"""

from collections.abc import Sequence
from itertools import chain
from uuid import UUID

from django.db import connection

from apps.pipeline.core.enums import WorkKind
from apps.tenants.constant_statements import run_constant

# Two statements, each of one end user and one table: on Citus either runs on one shard. Numbers of rows come from a
# sequence, which is drawn from while the lease is locked.
_MARK_READY = """
insert into outbox_userlease as old (end_user_id, project_id, ready_at, waits_for)
values (%(end_user)s, %(project)s, now(), '')
on conflict (end_user_id) do update set ready_at = least(old.ready_at, excluded.ready_at), waits_for = ''
"""
_ADD_ROWS = """
insert into outbox_outboxrow as old
    (end_user_id, project_id, kind, subject_id, session_id, turn_count, state, attempts, run_at, last_error, created_at)
values {rows}
on conflict (end_user_id, kind, subject_id) do update
    set state = 'pending', attempts = 0, run_at = excluded.run_at, waiting_since = null, finished_at = null,
        created_at = case when old.state = 'done' then excluded.created_at else old.created_at end
    where old.state <> 'pending'
"""
_ROW = "(%s, %s, %s, %s, %s, %s, 'pending', 0, now(), '', now())"
_ADD_ROW = _ADD_ROWS.format(rows=_ROW)
_MOST_ROWS = 500  # of a statement


def enqueue(
    *,
    end_user_id: UUID,
    project_id: UUID,
    kind: WorkKind,
    subject_ids: Sequence[UUID],
    session_id: UUID | None = None,
    turn_count: int = 1,
) -> None:
    """Enqueue one row per subject in the caller's transaction.

    A row that is already pending stays as it is. A row that is running, done or dead becomes pending again, because it
    may have missed what the caller has just written; one that was done waits since now.
    A user that waits for a model becomes ready, as the new work may not need the model. `turn_count` is the number of
    turns of a pipeline run, 1 for other work.
    """
    run_constant(_MARK_READY, {"end_user": end_user_id, "project": project_id})
    rows: list[tuple[UUID | str | int | None, ...]] = [
        (end_user_id, project_id, kind.value, each, session_id, turn_count) for each in subject_ids
    ]
    if len(rows) == 1:  # what each accepted request adds
        run_constant(_ADD_ROW, rows[0])
    else:
        _add(rows)


def _add(rows: Sequence[tuple[str | int | UUID | None, ...]]) -> None:
    with connection.cursor() as cursor:
        for start in range(0, len(rows), _MOST_ROWS):
            some = rows[start : start + _MOST_ROWS]
            cursor.execute(_ADD_ROWS.format(rows=", ".join([_ROW] * len(some))), [*chain.from_iterable(some)])
