"""Work under a lease: take the next rows, then mark them as done or failed. All times are the database's.

Locks are taken in the order memories, lease, outbox rows. A worker therefore writes the effects of its work before it
marks the work as done.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from apps.outbox.fetch import fetch
from apps.outbox.leases import Lease, LostLease, release
from apps.outbox.scheduling import NextWork, next_work
from apps.pipeline.core.enums import RUNS, WorkKind, WorkState
from apps.tenants.constant_statements import fetch_constant

LEAST_BACKOFF = timedelta(seconds=1)
MOST_BACKOFF = timedelta(minutes=10)
LOOK_AHEAD = 64  # open rows of one end user that are read at a time

# The final query of a statement: the open rows of the end user in the CTE `held`, except %(rows)s and the kinds of work
# in %(waiting)s. No row means that the lease is not held, one row of nulls that no work is open.
REMAINING_WORK = """
select row.id, row.kind, row.subject_id, row.session_id, row.attempts, row.run_at <= clock_timestamp(), row.turn_count
from held left join lateral (
    select * from outbox_outboxrow
    where end_user_id = %(end_user)s and state in ('pending', 'running') and id <> all(%(rows)s::bigint[])
      and kind <> all(%(waiting)s::text[])
    order by kind = 'run_pipeline' desc, id limit %(limit)s
) row on true
"""
_READ_OPEN_WORK = f"""
with held as (select end_user_id from outbox_userlease where end_user_id = %(end_user)s and token = %(token)s)
{REMAINING_WORK}
"""  # noqa: S608  (only constants of this module)
# The list is a subquery, so that the plan is kept ("Plans of statements with lists" in docs/decisions/speed.md).
_START = """
with held as (
    select end_user_id from outbox_userlease where end_user_id = %(end_user)s and token = %(token)s for update
)
update outbox_outboxrow row set state = 'running', attempts = attempts + 1
from held where row.end_user_id = %(end_user)s and row.id = any((select %(rows)s::bigint[])::bigint[])
    and row.state in ('pending', 'running')
returning row.id, row.attempts, array(select model from outbox_modelpause where project_id = %(project)s)
"""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The kinds of a leased user's work that wait for a paused model, and the model that the first of it waits for."""

    kinds: frozenset[WorkKind] = frozenset()
    model: str = ""

    def adding(self, *, kind: WorkKind, model: str) -> "Waiting":
        """Return what waits if work of this kind needs a paused model, too. All runs wait, to keep their order."""
        kinds = RUNS if kind in RUNS else frozenset({kind})
        return Waiting(kinds=self.kinds | kinds, model=self.model or model)


def take(
    *, lease: Lease, runs: int, open_work: Sequence[NextWork] = (), waiting: Waiting = Waiting()
) -> list[NextWork]:
    """Take the leased user's next work and count the attempt on each row; release the lease if nothing is due.

    Returns up to `runs` pipeline runs of one session with up to MOST_TURNS turns, or all index work that is due.
    `open_work` is what `finish` returned for the work before; it saves a query unless some work is `waiting`. Raises
    LostLease.
    """
    if waiting.kinds:
        open_work = ()
    while chosen := next_work(open_work or _open_work(lease, waiting), runs=runs):
        open_work = ()
        if started := _start(lease, chosen):
            return started
    release(lease=lease, waits_for=waiting.model)
    return []


def _open_work(lease: Lease, waiting: Waiting) -> list[NextWork]:
    """Read the leased user's open work without a lock; starting it checks the lease again."""
    values = {**finish_values(lease=lease, work=()), "waiting": [kind.value for kind in waiting.kinds]}
    return remaining_work(fetch_constant(_READ_OPEN_WORK, values), lease=lease)


def _start(lease: Lease, chosen: Sequence[NextWork]) -> list[NextWork]:
    values = {
        "end_user": lease.end_user_id,
        "project": lease.project_id,
        "token": lease.token,
        "rows": [each.id for each in chosen],
    }
    started = {row: (attempts, frozenset(paused)) for row, attempts, paused in fetch_constant(_START, values)}
    return [
        replace(each, attempts=started[each.id][0], paused=started[each.id][1]) for each in chosen if each.id in started
    ]


# CTEs to append to a statement that has a CTE `session_lock`. This lets a caller close a trace and finish its work in
# one round trip.
FINISH_CTES = """
held as (
    select lease.end_user_id from outbox_userlease lease, session_lock
    where lease.end_user_id = %(end_user)s and lease.token = %(token)s for update of lease
), done as (
    update outbox_outboxrow row set state = 'done', finished_at = now(), last_error = ''
    from held where row.end_user_id = %(end_user)s and row.id = any(%(rows)s) and row.state = 'running'
)
"""
_FINISH = f"with session_lock as (select), {FINISH_CTES} {REMAINING_WORK}"


def finish(*, lease: Lease, work: Sequence[NextWork]) -> list[NextWork]:
    """Mark rows as done and lock the lease, in the transaction that has written their effects.

    Returns the user's other open work. A row that was enqueued again while it ran stays pending. Raises LostLease when
    another worker holds the lease; the caller must then roll back.
    """
    return remaining_work(fetch_constant(_FINISH, finish_values(lease=lease, work=work)), lease=lease)


def finish_values(*, lease: Lease, work: Sequence[NextWork]) -> dict[str, Any]:
    """Return the query parameters of FINISH_CTES and REMAINING_WORK."""
    rows = [each.id for each in work]
    ours = {"end_user": lease.end_user_id, "token": lease.token}
    return {**ours, "rows": rows, "limit": LOOK_AHEAD, "waiting": []}


def remaining_work(rows: Sequence[tuple[Any, ...]], *, lease: Lease) -> list[NextWork]:
    """Convert the rows of REMAINING_WORK. Raises LostLease if the lease was not held."""
    if not rows:
        raise LostLease(f"the lease of end user {lease.end_user_id} is gone")
    return [
        NextWork(row, WorkKind(kind), subject, session, attempts=attempts, is_due=due, turn_count=turns)
        for row, kind, subject, session, attempts, due, turns in rows
        if row is not None
    ]


# The times are computed by a CTE: Citus updates rows with nothing but immutable functions of their columns.
_FAIL = """
with held as (
    select statement_timestamp() as now, statement_timestamp() + %(wait)s * interval '1 second' as later
    from outbox_userlease where end_user_id = %(end_user)s and token = %(token)s for update
)
update outbox_outboxrow row set
    state = case when attempts >= %(most)s then 'dead' else 'pending' end,
    finished_at = case when attempts >= %(most)s then held.now end,
    run_at = held.later,
    waiting_since = null,
    last_error = %(error)s
from held where row.end_user_id = %(end_user)s and row.id = %(row)s and row.state = 'running'
returning row.state
"""


def fail(*, lease: Lease, work: NextWork, error: str, most_attempts: int) -> WorkState | None:
    """Return a row to the queue for a later attempt, or mark it as dead after its last one; return its new state.

    Returns None if the row no longer belongs to this worker: it is done already, or another worker has taken over.
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
