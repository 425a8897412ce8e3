"""Which queues there are, and which users of them may be leased. All times are the database's.

A queue holds the ready users of one project that wait for the same paused model, or for none. Users that wait for a
paused model are not leased before its next try is due. Then one of them is: the one that has waited longest, or at
every second try the newest, so that one request that always times out does not fail all tries. Users that have waited
for longer than MODEL_OUTAGE_DAYS are leased so that their work is given up.
"""

import random
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from apps.outbox.rotation import ReadyQueue
from apps.tenants.constant_statements import fetch_constant

MOST_QUEUES = 100  # that one look reads; of more, those whose projects hold the fewest leases

_ALL = """
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


_QUEUES_OF_ONE_USER = _QUEUES.format(keys=_OF_ONE_USER, held=_HELD_BY_NOBODY)


def all_queues(*, outage_seconds: float) -> Sequence[ReadyQueue]:
    """Return the queues of all projects."""
    return _read(_QUEUES.format(keys=_ALL, held=_HELD), {"outage": outage_seconds})


def queues_of_user(*, end_user_id: UUID, outage_seconds: float) -> Sequence[ReadyQueue]:
    """Return the queue in which one user is, if any; leases that the project holds are not counted."""
    return _read(_QUEUES_OF_ONE_USER, {"only": end_user_id, "outage": outage_seconds})


def _read(sql: str, values: dict[str, Any]) -> Sequence[ReadyQueue]:
    queues = [ReadyQueue(*row) for row in fetch_constant(sql, values)]
    if len(queues) > MOST_QUEUES:
        random.shuffle(queues)
        queues.sort(key=lambda queue: queue.held)
    return queues[:MOST_QUEUES]
