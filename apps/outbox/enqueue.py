"""Add work to the outbox: one row per subject, and mark its end user as ready. All times are the database's.

Every transaction takes its locks in the same order, which prevents deadlocks: session, memories, lease, outbox rows,
trace. A transaction that accepts a request or writes memories therefore enqueues its work last.
"""

from collections.abc import Sequence
from uuid import UUID

from django.db import connection

from apps.pipeline.core.enums import WorkKind

# CTEs to append to a statement that has a CTE `placed` with one row where the work is to be enqueued. This lets a
# caller write its own rows and enqueue their work in one round trip. The lease is locked before the outbox rows.
# `turn_count` is the number of turns of a pipeline run, 1 for other work.
ENQUEUE_CTES = """
ready as (
    insert into outbox_userlease as old (end_user_id, project_id, ready_at)
    select %(end_user)s, %(project)s, now() from placed
    on conflict (end_user_id) do update
        set ready_at = least(old.ready_at, excluded.ready_at), waits_for = ''
    returning end_user_id, project_id
), enqueued as (
    insert into outbox_outboxrow as old
        (end_user_id, project_id, kind, subject_id, session_id, turn_count, state, attempts, run_at, last_error,
         created_at)
    select end_user_id, project_id, %(kind)s, subject, %(session)s, %(turn_count)s, 'pending', 0, now(), '', now()
    from ready, unnest(%(subjects)s::uuid[]) subject
    on conflict (end_user_id, kind, subject_id) do update
        set state = 'pending', attempts = 0, run_at = now(), waiting_since = null, finished_at = null
        where old.state <> 'pending'
)
"""
_ENQUEUE = f"with placed as (select), {ENQUEUE_CTES} select"


def enqueue(
    *,
    end_user_id: UUID,
    project_id: UUID,
    kind: WorkKind,
    subject_ids: Sequence[UUID],
    session_id: UUID | None = None,
) -> None:
    """Enqueue one row per subject in the caller's transaction.

    A row that is already pending stays as it is. A row that is running, done or dead becomes pending again, because it
    may have missed what the caller has just written. A user that waits for a model becomes ready, as the new work may
    not need the model.
    """
    values = {
        "end_user": end_user_id,
        "project": project_id,
        "kind": kind.value,
        "subjects": list(subject_ids),
        "session": session_id,
        "turn_count": 1,
    }
    with connection.cursor() as cursor:
        cursor.execute(_ENQUEUE, values)
