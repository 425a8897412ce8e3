"""Leases on end users: claim, renew and release the right to do one user's work. All times are the database's.

A lease lets one worker at a time do an end user's work, in the order in which it was accepted. Every write of a
worker checks the lease's token, so a worker that has lost its lease can't commit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction

from apps.outbox.fetch import fetch
from apps.pipeline.core.identifiers import new_id


class LostLease(Exception):
    """Another worker holds the lease now; this worker must not commit anything."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to do one end user's work until the lease expires.

    `is_retry_after_crash` is set where an earlier worker left a row running, so the work may have killed it.
    """

    end_user_id: UUID
    project_id: UUID
    token: UUID
    is_retry_after_crash: bool = False


# Selects the users of one queue that can be leased. A queue holds the ready users of one project that wait for the
# same paused model, or for none.
_READY_USERS = """
select end_user_id, ready_at from outbox_userlease
where project_id = queue.project_id and waits_for = queue.waits_for and ready_at <= queue.ready_by
  and (leased_until is null or leased_until < statement_timestamp())
  and (%(only)s::uuid is null or end_user_id = %(only)s)
"""
# Round robin over projects: the first ready user of each project comes before the second of any, and the leases that a
# project holds already count as its first turns, so that a project with a large backlog does not delay the others. The
# recursive CTE lists the queues by an index skip scan.
# Users that wait for a paused model are not leased before its next try is due. Then one of them is: the one that has
# waited longest, or at every second try the newest, so that one request that always times out does not fail all tries.
# Users that have waited for longer than MODEL_OUTAGE_DAYS are leased so that their work is given up.
_CLAIM = f"""
with recursive queue_key as (
    (select project_id, waits_for from outbox_userlease where ready_at is not null
     order by project_id, waits_for limit 1)
    union all
    select following.project_id, following.waits_for from queue_key cross join lateral (
        select project_id, waits_for from outbox_userlease
        where ready_at is not null and (project_id, waits_for) > (queue_key.project_id, queue_key.waits_for)
        order by project_id, waits_for limit 1
    ) following
), queue as (
    select queue_key.project_id, queue_key.waits_for,
        (select count(*) from outbox_userlease held where held.project_id = queue_key.project_id
         and held.token is not null and held.leased_until >= statement_timestamp()) as held,
        case when pause.until <= statement_timestamp() then 1 else %(limit)s end as max_users,
        pause.until <= statement_timestamp() and pause.failures %% 2 = 0 as is_newest_first,
        case when pause.until is null or pause.until <= statement_timestamp() then statement_timestamp()
             when pause.since <= statement_timestamp() - %(outage)s * interval '1 second'
             then statement_timestamp() - %(outage)s * interval '1 second' else '-infinity' end as ready_by
    from queue_key left join outbox_modelpause pause
        on pause.project_id = queue_key.project_id and pause.model = queue_key.waits_for
    where not exists (
        select from tenants_project where id = queue_key.project_id and archived_at is not null
    )
), candidate as (
    select ready.end_user_id, ready.ready_at,
           queue.held + row_number() over (partition by queue.project_id order by ready.ready_at) as turn
    from queue cross join lateral (
        ({_READY_USERS} and queue.is_newest_first is not true order by ready_at limit queue.max_users)
        union all
        ({_READY_USERS} and queue.is_newest_first order by ready_at desc limit queue.max_users)
    ) ready
), free as (
    select end_user_id from outbox_userlease
    where end_user_id in (select end_user_id from candidate order by turn, ready_at limit %(limit)s)
      and (leased_until is null or leased_until < statement_timestamp())
    for update skip locked
)
update outbox_userlease lease
set leased_until = statement_timestamp() + %(seconds)s * interval '1 second', token = %(token)s, waits_for = ''
from free where lease.end_user_id = free.end_user_id
returning lease.end_user_id, lease.project_id,
    exists (select from outbox_outboxrow where end_user_id = lease.end_user_id and state = 'running')
"""  # noqa: S608  (only constants of this module)


def claim(*, limit: int, seconds: int, only: UUID | None = None) -> list[Lease]:
    """Lease up to `limit` end users that have work ready and no current lease, under a new token.

    With a token of the worker, a lease that was interrupted would be valid again once the same worker claims the user
    again, and what it computes from withdrawn turns would be committed.

    Projects take turns; within a project the user that has waited longest comes first. Of the users that wait for a
    paused model, one is leased when the next try is due. The queues of archived projects are paused.
    """
    token = new_id()
    values = {"token": token, "limit": limit, "seconds": seconds, "only": only, "outage": outage_seconds()}
    rows = fetch(_CLAIM, values)
    return [
        Lease(end_user_id=end_user, project_id=project, token=token, is_retry_after_crash=is_retry_after_crash)
        for end_user, project, is_retry_after_crash in rows
    ]


_RENEW = """
update outbox_userlease lease set leased_until = clock_timestamp() + %(seconds)s * interval '1 second'
from unnest(%(end_users)s::uuid[], %(tokens)s::uuid[]) held (end_user_id, token)
where lease.end_user_id = held.end_user_id and lease.token = held.token
"""


def renew(*, held: Sequence[Lease], seconds: int) -> None:
    """Extend leases; those that were lost stay unchanged."""
    values: dict[str, Any] = {
        "end_users": [lease.end_user_id for lease in held],
        "tokens": [lease.token for lease in held],
        "seconds": seconds,
    }
    with connection.cursor() as cursor:
        cursor.execute(_RENEW, values)


def outage_seconds() -> float:
    """Return how long work waits for a model or the database before it is given up, in seconds."""
    return timedelta(days=settings.MODEL_OUTAGE_DAYS).total_seconds()


def release(*, lease: Lease, waits_for: str = "") -> None:
    """Release a lease and set when its user's remaining work is due; a lost lease stays unchanged.

    If the user `waits_for` a model, it is not leased again before a try of that model is due.
    The row is locked by a separate first statement, so that the second one sees work enqueued before the lock.
    """
    with transaction.atomic():
        held = fetch(
            "select 1 from outbox_userlease where end_user_id = %s and token = %s for update",
            [lease.end_user_id, lease.token],
        )
        if held:
            with connection.cursor() as cursor:
                cursor.execute(_RELEASE, {"end_user": lease.end_user_id, "waits_for": waits_for})


# Pipeline runs are done in order, so only the first one decides when they are due; index work has no order.
_RELEASE = """
update outbox_userlease lease set leased_until = null, token = null, waits_for = %(waits_for)s, ready_at = least(
    (select run_at from outbox_outboxrow
     where end_user_id = lease.end_user_id and state in ('pending', 'running') and kind = 'run_pipeline'
     order by id limit 1),
    (select min(run_at) from outbox_outboxrow
     where end_user_id = lease.end_user_id and state in ('pending', 'running') and kind <> 'run_pipeline')
) where end_user_id = %(end_user)s
"""


def revoke(*, end_user_id: UUID) -> None:
    """Revoke the lease after the current commit of its holder; no work of the user is due then.

    A worker that holds it can't commit any more: it loses the lease.
    """
    with connection.cursor() as cursor:
        cursor.execute("delete from outbox_userlease where end_user_id = %s", [end_user_id])


def interrupt(*, end_user_id: UUID) -> None:
    """Revoke the lease after the current commit of its holder; the user's work starts again."""
    with connection.cursor() as cursor:
        cursor.execute(
            "update outbox_userlease set leased_until = null, token = null, ready_at = now() where end_user_id = %s",
            [end_user_id],
        )
