"""Work under a lease: take what is next, then say that it is done or has failed. The database's clock rules.

The lease is locked before the work's own rows, and both after memories; so a worker finishes work after its effects.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from apps.outbox.fetch import fetch
from apps.outbox.leases import Lease, LostLease, release
from apps.outbox.scheduling import NextWork, next_work
from apps.pipeline.core.enums import WorkKind, WorkState

LEAST_BACKOFF = timedelta(seconds=1)
MOST_BACKOFF = timedelta(minutes=10)
LOOK_AHEAD = 64  # rows of one end user that a take looks at

# What the user of a lease is owed, without the rows that are being done, and without the kinds of work that wait for
# a model; one empty row where it is nothing.
_OWED = """
select row.id, row.kind, row.subject_id, row.session_id, row.attempts, row.run_at <= clock_timestamp()
from held left join lateral (
    select * from outbox_outboxrow
    where end_user_id = held.end_user_id and state in ('pending', 'running') and id <> all(%(rows)s::bigint[])
      and kind <> all(%(waiting)s::text[])
    order by kind = 'run_pipeline' desc, id limit %(limit)s
) row on true
"""
_LOOK = f"""
with held as (select end_user_id from outbox_userlease where end_user_id = %(end_user)s and token = %(token)s)
{_OWED}
"""  # noqa: S608  (only constants of this module)
_START = """
with held as (
    select end_user_id from outbox_userlease where end_user_id = %(end_user)s and token = %(token)s for update
)
update outbox_outboxrow row set state = 'running', attempts = attempts + 1
from held where row.end_user_id = held.end_user_id and row.id = any(%(rows)s) and row.state in ('pending', 'running')
returning row.id, row.attempts, array(select model from outbox_modelpause where project_id = %(project)s)
"""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The work of a leased user that is left for later, by kind, and the model that the first of it waits for."""

    kinds: frozenset[WorkKind] = frozenset()
    model: str = ""


def take(*, lease: Lease, runs: int, owed: Sequence[NextWork] = (), waiting: Waiting = Waiting()) -> list[NextWork]:
    """Take the leased user's next work, each row's attempt counted and committed; give the lease back if none is due.

    Up to `runs` pipeline runs of one session come together, or all index work. `owed` is what was seen to be owed when
    the last work was finished, so that it is not looked for again; with something `waiting` it is. Raises LostLease.
    """
    if waiting.kinds:
        owed = ()
    while chosen := next_work(owed or _owed(lease, waiting), runs=runs):
        owed = ()
        if started := _start(lease, chosen):
            return started
    release(lease=lease, waits_for=waiting.model)
    return []


def _owed(lease: Lease, waiting: Waiting) -> list[NextWork]:
    """Look at what the leased user is owed, without a lock: whoever begins it asks for the lease again."""
    kinds = [kind.value for kind in waiting.kinds]
    return owed_behind(fetch(_LOOK, {**finishing(lease=lease, work=()), "waiting": kinds}), lease=lease)


def _start(lease: Lease, chosen: Sequence[NextWork]) -> list[NextWork]:
    values = {
        "end_user": lease.end_user_id,
        "project": lease.project_id,
        "token": lease.token,
        "rows": [each.id for each in chosen],
    }
    started = {row: (attempts, frozenset(paused)) for row, attempts, paused in fetch(_START, values)}
    return [
        replace(each, attempts=started[each.id][0], paused=started[each.id][1]) for each in chosen if each.id in started
    ]


def _work(row: int, kind: str, subject: UUID, session: UUID | None, attempts: int, due: bool) -> NextWork:
    return NextWork(id=row, kind=WorkKind(kind), subject_id=subject, session_id=session, attempts=attempts, is_due=due)


# Parts of a statement, behind its part `standing`: so a trace is closed and its work finished in one round trip.
FINISHED = """
held as (
    select lease.end_user_id from outbox_userlease lease, standing
    where lease.end_user_id = %(end_user)s and lease.token = %(token)s for update of lease
), done as (
    update outbox_outboxrow row set state = 'done', finished_at = now(), last_error = ''
    from held where row.end_user_id = held.end_user_id and row.id = any(%(rows)s) and row.state = 'running'
)
"""
OWED_BEHIND = _OWED
_FINISH = f"with standing as (select), {FINISHED} {OWED_BEHIND}"


def finish(*, lease: Lease, work: Sequence[NextWork]) -> list[NextWork]:
    """Mark rows as done and hold the lease's row, in the transaction that has written their effects.

    Return what is owed behind them. A row that was owed again meanwhile stays owed. Raises LostLease when the lease is
    another worker's; the caller's transaction must end then.
    """
    return owed_behind(fetch(_FINISH, finishing(lease=lease, work=work)), lease=lease)


def finishing(*, lease: Lease, work: Sequence[NextWork]) -> dict[str, Any]:
    """Return what FINISHED and OWED_BEHIND are told."""
    rows = [each.id for each in work]
    ours = {"end_user": lease.end_user_id, "token": lease.token}
    return {**ours, "rows": rows, "limit": LOOK_AHEAD, "waiting": []}


def owed_behind(rows: Sequence[tuple[Any, ...]], *, lease: Lease) -> list[NextWork]:
    """Read what OWED_BEHIND returns. Raises LostLease where the lease was not held."""
    if not rows:
        raise LostLease(f"the lease of end user {lease.end_user_id} is gone")
    return [_work(*row) for row in rows if row[0] is not None]


_FAIL = """
update outbox_outboxrow row set
    state = case when attempts >= %(most)s then 'dead' else 'pending' end,
    finished_at = case when attempts >= %(most)s then clock_timestamp() end,
    run_at = clock_timestamp() + %(wait)s * interval '1 second',
    waiting_since = null,
    last_error = %(error)s
from (select end_user_id from outbox_userlease where end_user_id = %(end_user)s and token = %(token)s for update) held
where row.end_user_id = held.end_user_id and row.id = %(row)s and row.state = 'running'
returning row.state
"""


def fail(*, lease: Lease, work: NextWork, error: str, most_attempts: int) -> WorkState | None:
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
