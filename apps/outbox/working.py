"""Work under a lease: take what is next, then say that it is done or has failed. The database's clock rules.

The lease is locked before the work's own rows, and both after memories; so a worker finishes work after its effects.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from apps.outbox.fetch import fetch
from apps.outbox.leases import Lease, LostLease, release
from apps.outbox.next_work import Work, next_work
from apps.pipeline.vocabulary import WorkKind, WorkState

LEAST_BACKOFF = timedelta(seconds=1)
MOST_BACKOFF = timedelta(minutes=10)
LOOK_AHEAD = 64  # rows of one end user that a take looks at

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
        if attempts := dict(fetch(_START, values)):
            return [replace(each, attempts=attempts[each.id]) for each in chosen if each.id in attempts]
    release(lease=lease)
    return []


def _owed(lease: Lease) -> list[Work]:
    """Look at what the leased user is owed, without a lock: whoever begins it asks for the lease again."""
    rows = fetch(_LOOK, {"end_user": lease.end_user_id, "token": lease.token, "limit": LOOK_AHEAD})
    if not rows:
        raise LostLease(f"the lease of end user {lease.end_user_id} is gone")
    return [_work(*row) for row in rows if row[0] is not None]


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
    if not fetch(_FINISH, values):
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
    rows = fetch(_FAIL, values)
    return WorkState(rows[0][0]) if rows else None


def backoff(*, attempts: int) -> timedelta:
    """Return how long to wait after the n-th attempt: 1 s, 2 s, 4 s … to 10 minutes, each with up to 50 % jitter."""
    wait = min(LEAST_BACKOFF * 2 ** (max(attempts, 1) - 1), MOST_BACKOFF)
    return wait * random.uniform(1.0, 1.5)  # noqa: S311  (jitter needs no cryptography)
