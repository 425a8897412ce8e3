"""Owe work: one row for each subject, and its end user ready. The database's clock rules.

Locks are taken in one order, so that nobody deadlocks: the session, memories, the lease, then the work's own rows
and its trace. So whoever accepts a request or writes memories owes their work last.
"""

from collections.abc import Sequence
from uuid import UUID

from django.db import connection

from apps.pipeline.core.enums import WorkKind

# Parts of a statement, behind its part `placed`: so whoever owes work together with what it is about does it in one
# round trip, and last. The lease's row is locked before the work's own.
OWED = """
ready as (
    insert into outbox_userlease (end_user_id, project_id, ready_at)
    select %(end_user)s, %(project)s, now() from placed
    on conflict (end_user_id) do update
        set ready_at = least(outbox_userlease.ready_at, excluded.ready_at), waits_for = ''
    returning end_user_id, project_id
), owed as (
    insert into outbox_outboxrow
        (end_user_id, project_id, kind, subject_id, session_id, state, attempts, run_at, last_error, created_at)
    select end_user_id, project_id, %(kind)s, subject, %(session)s, 'pending', 0, now(), '', now()
    from ready, unnest(%(subjects)s::uuid[]) subject
    on conflict (end_user_id, kind, subject_id) do update
        set state = 'pending', attempts = 0, run_at = now(), waiting_since = null, finished_at = null
        where outbox_outboxrow.state <> 'pending'
)
"""
_ADD = f"with placed as (select), {OWED} select"


def enqueue(
    *,
    end_user_id: UUID,
    project_id: UUID,
    kind: WorkKind,
    subject_ids: Sequence[UUID],
    session_id: UUID | None = None,
) -> None:
    """Owe work for each subject, in the caller's transaction.

    Work that waits already is not owed twice; work that was done, or is being done from what it found before, is
    owed again. A user who waits for a model is looked at again: the new work may need none.
    """
    values = {
        "end_user": end_user_id,
        "project": project_id,
        "kind": kind.value,
        "subjects": list(subject_ids),
        "session": session_id,
    }
    with connection.cursor() as cursor:
        cursor.execute(_ADD, values)
