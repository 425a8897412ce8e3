"""Look for end users that can be leased, without a lock. All times are the database's.

A queue holds the ready users of one project that wait for the same paused model, or for none. Users that wait for a
paused model are not leased before its next try is due. Then one of them is: the one that has waited longest, or at
every second try the newest, so that one request that always times out does not fail all tries. Users that have waited
for longer than MODEL_OUTAGE_DAYS are leased so that their work is given up.
"""

import random
from collections.abc import Sequence
from itertools import chain
from uuid import UUID

from apps.outbox.fetch import fetch
from apps.outbox.rotation import ReadyQueue, ReadyUser, in_rotation
from apps.tenants.scoped_connection import form_for_database

MOST_QUEUES = 100  # that one look reads; of more, those whose projects hold the fewest leases

# The keys of the queues. The recursive CTE lists them by an index skip scan, however many users wait; Citus knows none.
_ALL = """
recursive queue_key as (
    (select project_id, waits_for from outbox_userlease where ready_at is not null
     order by project_id, waits_for limit 1)
    union all
    select following.project_id, following.waits_for from queue_key cross join lateral (
        select project_id, waits_for from outbox_userlease
        where ready_at is not null and (project_id, waits_for) > (queue_key.project_id, queue_key.waits_for)
        order by project_id, waits_for limit 1
    ) following
)
"""
_ALL_ON_CITUS = """
queue_key as (select distinct project_id, waits_for from outbox_userlease where ready_at is not null)
"""
_OF_ONE_USER = """
queue_key as (
    select project_id, waits_for from outbox_userlease where end_user_id = %(only)s and ready_at is not null
)
"""
_HELD = """
held as (
    select project_id, count(*) as leases from outbox_userlease
    where token is not null and leased_until >= statement_timestamp() group by project_id
)
"""
_HELD_BY_NOBODY = "held as (select null::uuid as project_id, 0 as leases)"
_QUEUES = """
with {keys}, {held}
select queue_key.project_id, queue_key.waits_for, coalesce(held.leases, 0), pause.until is not null and is_try_due,
    pause.until is not null and is_try_due and pause.failures %% 2 = 0,
    case when pause.until is null or is_try_due then statement_timestamp() else given_up_before end
from queue_key
left join held on held.project_id = queue_key.project_id
left join (
    select project_id, model, until, since, failures, until <= statement_timestamp() as is_try_due,
        statement_timestamp() - %(outage)s * interval '1 second' as given_up_before
    from outbox_modelpause
) pause on pause.project_id = queue_key.project_id and pause.model = queue_key.waits_for
where (pause.until is null or is_try_due or pause.since <= given_up_before)
    and queue_key.project_id not in (select id from tenants_project where archived_at is not null)
"""
_READY = """
(select end_user_id, ready_at, %s::int from outbox_userlease
 where project_id = %s and waits_for = %s and ready_at <= %s
   and (leased_until is null or leased_until < statement_timestamp()) {only}
 order by ready_at {direction} limit %s)
"""


def ready_users(*, limit: int, outage_seconds: float, only: UUID | None = None) -> list[ReadyUser]:
    """Return up to `limit` users that can be leased, in the order in which they should be; `only` one, if given."""
    queues = _queues(outage_seconds, only)
    if not queues:
        return []
    parts, values = [], []
    for number, queue in enumerate(queues):
        direction = "desc" if queue.is_newest_first else ""
        parts.append(_READY.format(only="" if only is None else "and end_user_id = %s", direction=direction))
        most = 1 if queue.is_single_try else limit
        one = () if only is None else (only,)
        values.append((number, queue.project_id, queue.waits_for, queue.ready_by, *one, most))
    rows = fetch(" union all ".join(parts), [*chain.from_iterable(values)])
    return in_rotation([ReadyUser(user, ready_at, queues[number]) for user, ready_at, number in rows], limit=limit)


def _queues(outage_seconds: float, only: UUID | None) -> Sequence[ReadyQueue]:
    keys = form_for_database(usual=_ALL, on_citus=_ALL_ON_CITUS)
    sql = _QUEUES.format(keys=keys, held=_HELD) if only is None else _QUEUES_OF_ONE_USER
    rows = fetch(sql, {"only": only, "outage": outage_seconds})
    queues = [ReadyQueue(*row) for row in rows]
    if len(queues) > MOST_QUEUES:
        random.shuffle(queues)
        queues.sort(key=lambda queue: queue.held)
    return queues[:MOST_QUEUES]


_QUEUES_OF_ONE_USER = _QUEUES.format(keys=_OF_ONE_USER, held=_HELD_BY_NOBODY)
