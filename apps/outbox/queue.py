"""The queue over the outbox: add, claim, take, finish, fail, renew, release. The database's clock rules throughout.

An end user's lease lets one worker at a time do that user's work, in the order in which it was accepted. Every
write of a worker carries the lease's token, so that one which lost its lease can't commit.

Locks are taken in one order, so that nobody deadlocks: the session, memories, the lease, then the work's own rows
and its trace. So a worker finishes work after the effects, and whoever accepts a request owes its work last.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import takewhile
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from apps.pipeline.vocabulary import WorkKind, WorkState

LEAST_BACKOFF = timedelta(seconds=1)
MOST_BACKOFF = timedelta(minutes=10)
LOOK_AHEAD = 64  # rows of one end user that a take looks at


class LostLease(Exception):
    """The lease went to another worker; nothing of this one may be committed."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to do one end user's work for a while; `is_suspect` when who began it last never came to an end."""

    end_user_id: UUID
    project_id: UUID
    token: UUID
    is_suspect: bool = False


@dataclass(frozen=True, slots=True)
class Work:
    """One owed row; once taken, `attempts` counts this attempt too."""

    id: int
    kind: WorkKind
    subject_id: UUID
    session_id: UUID | None = None
    attempts: int = 0
    is_due: bool = True


# Parts of a statement, behind its part `placed`: so whoever owes work together with what it is about does it in one
# round trip, and last. The lease's row is locked before the work's own.
OWED = """
ready as (
    insert into outbox_userlease (end_user_id, project_id, ready_at)
    select %(end_user)s, %(project)s, now() from placed
    on conflict (end_user_id) do update set ready_at = least(outbox_userlease.ready_at, excluded.ready_at)
    returning end_user_id, project_id
), owed as (
    insert into outbox_outboxrow
        (end_user_id, project_id, kind, subject_id, session_id, state, attempts, run_at, last_error, created_at)
    select end_user_id, project_id, %(kind)s, subject, %(session)s, 'pending', 0, now(), '', now()
    from ready, unnest(%(subjects)s::uuid[]) subject
    on conflict (end_user_id, kind, subject_id) do update
        set state = 'pending', attempts = 0, run_at = now(), finished_at = null
        where outbox_outboxrow.state <> 'pending'
)
"""
_ADD = f"with placed as (select), {OWED} select"


def add(
    *,
    end_user_id: UUID,
    project_id: UUID,
    kind: WorkKind,
    subject_ids: Sequence[UUID],
    session_id: UUID | None = None,
) -> None:
    """Owe work for each subject, in the caller's transaction.

    Work that waits already is not owed twice; work that was done, or is being done from what it found before, is
    owed again.
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


# Projects take turns: the first ready user of each comes before the second of any, so that a project with a flood of
# work keeps nobody else waiting. Projects are found by skipping along the index of what is ready.
_CLAIM = """
with recursive project as (
    (select project_id as id from outbox_userlease where ready_at is not null order by project_id limit 1)
    union all
    select (select project_id from outbox_userlease where ready_at is not null and project_id > project.id
            order by project_id limit 1)
    from project where project.id is not null
), candidate as (
    select ready.end_user_id, ready.ready_at,
           row_number() over (partition by project.id order by ready.ready_at) as place
    from project cross join lateral (
        select end_user_id, ready_at from outbox_userlease
        where project_id = project.id and ready_at <= statement_timestamp()
          and (leased_until is null or leased_until < statement_timestamp())
          and (%(only)s::uuid is null or end_user_id = %(only)s)
        order by ready_at limit %(limit)s
    ) ready
), free as (
    select end_user_id from outbox_userlease
    where end_user_id in (select end_user_id from candidate order by place, ready_at limit %(limit)s)
      and (leased_until is null or leased_until < statement_timestamp())
    for update skip locked
)
update outbox_userlease lease
set leased_until = statement_timestamp() + %(seconds)s * interval '1 second', token = %(token)s
from free where lease.end_user_id = free.end_user_id
returning lease.end_user_id, lease.project_id,
    exists (select from outbox_outboxrow where end_user_id = lease.end_user_id and state = 'running')
"""


def claim(*, token: UUID, limit: int, seconds: int, only: UUID | None = None) -> list[Lease]:
    """Lease up to `limit` end users whose work is ready and whom nobody works for.

    Projects take turns; within one, who has waited longest comes first.
    """
    values = {"token": token, "limit": limit, "seconds": seconds, "only": only}
    rows = _fetch(_CLAIM, values)
    return [
        Lease(end_user_id=end_user, project_id=project, token=token, is_suspect=is_suspect)
        for end_user, project, is_suspect in rows
    ]


_LOOK = """
select row.id, row.kind, row.subject_id, row.session_id, row.attempts, row.run_at <= clock_timestamp()
from (select end_user_id from outbox_userlease where end_user_id = %(end_user)s and token = %(token)s) lease
left join lateral (
    select * from outbox_outboxrow
    where end_user_id = lease.end_user_id and state in ('pending', 'running')
    order by kind = 'run_pipeline' desc, id limit %(limit)s
) row on true
"""
_START = """
with held as (
    select end_user_id from outbox_userlease where end_user_id = %(end_user)s and token = %(token)s for update
)
update outbox_outboxrow row set state = 'running', attempts = attempts + 1
from held where row.end_user_id = held.end_user_id and row.id = any(%(rows)s) and row.state in ('pending', 'running')
returning row.id, row.attempts
"""


def take(*, lease: Lease, runs: int) -> list[Work]:
    """Take the leased user's next work, each row's attempt counted and committed; give the lease back if none is due.

    Up to `runs` pipeline runs of one session come together, or all index work. Raises LostLease.
    """
    while chosen := next_work(_owed(lease), runs=runs):
        values = {"end_user": lease.end_user_id, "token": lease.token, "rows": [each.id for each in chosen]}
        if attempts := dict(_fetch(_START, values)):
            return [replace(each, attempts=attempts[each.id]) for each in chosen if each.id in attempts]
    release(lease=lease)
    return []


def _owed(lease: Lease) -> list[Work]:
    """Look at what the leased user is owed, without a lock: whoever begins it asks for the lease again."""
    rows = _fetch(_LOOK, {"end_user": lease.end_user_id, "token": lease.token, "limit": LOOK_AHEAD})
    if not rows:
        raise LostLease(f"the lease of end user {lease.end_user_id} is gone")
    return [_work(*row) for row in rows if row[0] is not None]


def next_work(owed: Sequence[Work], *, runs: int) -> list[Work]:
    """Choose what is done next of what is owed, pipeline runs first and in their order.

    1. Behind a run that waits for its next attempt, later runs wait too.
    2. A run that was tried before is taken alone: should it kill its worker, no other row loses an attempt.
    3. Fresh runs of one session come together, so that they can share a model call.
    4. Index work has no order; what is due of it is taken together, what was tried before alone.
    """
    waiting = [each for each in owed if each.kind is WorkKind.RUN_PIPELINE]
    ready = list(takewhile(lambda each: each.is_due, waiting))
    others = [each for each in owed if each.kind is not WorkKind.RUN_PIPELINE and each.is_due]
    queue = ready or others
    if not queue or queue[0].attempts:
        return queue[:1]
    first = queue[0]
    alike = list(takewhile(lambda each: _goes_with(each, first), queue))
    return alike[:runs] if ready else alike


def _goes_with(each: Work, first: Work) -> bool:
    return each.kind is first.kind and each.session_id == first.session_id and not each.attempts


def _work(row: int, kind: str, subject: UUID, session: UUID | None, attempts: int, due: bool) -> Work:
    return Work(id=row, kind=WorkKind(kind), subject_id=subject, session_id=session, attempts=attempts, is_due=due)


_FINISH = """
with held as (
    select end_user_id from outbox_userlease where end_user_id = %(end_user)s and token = %(token)s for update
), done as (
    update outbox_outboxrow row set state = 'done', finished_at = now(), last_error = ''
    from held where row.end_user_id = held.end_user_id and row.id = any(%(rows)s) and row.state = 'running'
)
select 1 from held
"""


def finish(*, lease: Lease, work: Sequence[Work]) -> None:
    """Mark rows as done and hold the lease's row, in the transaction that has written their effects.

    A row that was owed again meanwhile stays owed. Raises LostLease when the lease is another worker's; the caller's
    transaction must end then.
    """
    values = {"end_user": lease.end_user_id, "token": lease.token, "rows": [each.id for each in work]}
    if not _fetch(_FINISH, values):
        raise LostLease(f"the lease of end user {lease.end_user_id} is gone")


_FAIL = """
update outbox_outboxrow row set
    state = case when attempts >= %(most)s then 'dead' else 'pending' end,
    finished_at = case when attempts >= %(most)s then clock_timestamp() end,
    run_at = clock_timestamp() + %(wait)s * interval '1 second',
    last_error = %(error)s
from (select end_user_id from outbox_userlease where end_user_id = %(end_user)s and token = %(token)s for update) held
where row.end_user_id = held.end_user_id and row.id = %(row)s and row.state = 'running'
returning row.state
"""


def fail(*, lease: Lease, work: Work, error: str, most_attempts: int) -> WorkState | None:
    """Put a row back for a later attempt, or bury it as dead after its last; return which.

    None says that it was not this worker's to put back: done already, or taken over.
    """
    values = {
        "end_user": lease.end_user_id,
        "token": lease.token,
        "row": work.id,
        "most": most_attempts,
        "wait": backoff(attempts=work.attempts).total_seconds(),
        "error": error[:4_000],
    }
    rows = _fetch(_FAIL, values)
    return WorkState(rows[0][0]) if rows else None


def backoff(*, attempts: int) -> timedelta:
    """Return how long to wait after the n-th attempt: 1 s, 2 s, 4 s … to 10 minutes, each with up to 50 % jitter."""
    wait = min(LEAST_BACKOFF * 2 ** (max(attempts, 1) - 1), MOST_BACKOFF)
    return wait * random.uniform(1.0, 1.5)  # noqa: S311  (jitter needs no cryptography)


_RENEW = """
update outbox_userlease set leased_until = clock_timestamp() + %(seconds)s * interval '1 second'
where end_user_id = any(%(end_users)s) and token = %(token)s
"""


def renew(*, token: UUID, end_user_ids: Sequence[UUID], seconds: int) -> None:
    """Prolong a worker's leases on the end users that it still works for; those that it lost are left alone."""
    with connection.cursor() as cursor:
        cursor.execute(_RENEW, {"token": token, "end_users": list(end_user_ids), "seconds": seconds})


def release(*, lease: Lease) -> None:
    """Give a lease back before its work is done, ready again at once; a lost lease is left alone.

    The row is locked by a statement of its own first: work that was added meanwhile is then seen by the next.
    """
    with transaction.atomic():
        held = _fetch(
            "select 1 from outbox_userlease where end_user_id = %s and token = %s for update",
            [lease.end_user_id, lease.token],
        )
        if held:
            _give_back(lease)


# Ready when the first pipeline run is due, or any index work: runs behind one that waits would only be looked at.
_GIVE_BACK = """
update outbox_userlease lease set leased_until = null, token = null, ready_at = least(
    (select run_at from outbox_outboxrow
     where end_user_id = lease.end_user_id and state in ('pending', 'running') and kind = 'run_pipeline'
     order by id limit 1),
    (select min(run_at) from outbox_outboxrow
     where end_user_id = lease.end_user_id and state in ('pending', 'running') and kind <> 'run_pipeline')
) where end_user_id = %s
"""


def _give_back(lease: Lease) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_GIVE_BACK, [lease.end_user_id])


def _fetch(sql: str, values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()
