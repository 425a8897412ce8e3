"""Leases on end users: claim, renew and release the right to do one user's work. All times are the database's.

A lease lets one worker at a time do an end user's work, in the order in which it was accepted. Every write of a
worker checks the lease's token, so a worker that has lost its lease can't commit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection, transaction

from apps.outbox.fetch import fetch


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


# Round robin over projects: the first ready user of each project comes before the second of any, so that a project
# with a large backlog does not delay the others. The recursive CTE lists the projects by an index skip scan.
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
    """Lease up to `limit` end users that have work ready and no current lease.

    Projects take turns; within a project the user that has waited longest comes first.
    """
    values = {"token": token, "limit": limit, "seconds": seconds, "only": only}
    rows = fetch(_CLAIM, values)
    return [
        Lease(end_user_id=end_user, project_id=project, token=token, is_retry_after_crash=is_retry_after_crash)
        for end_user, project, is_retry_after_crash in rows
    ]


_RENEW = """
update outbox_userlease set leased_until = clock_timestamp() + %(seconds)s * interval '1 second'
where end_user_id = any(%(end_users)s) and token = %(token)s
"""


def renew(*, token: UUID, end_user_ids: Sequence[UUID], seconds: int) -> None:
    """Extend a worker's leases on these end users; leases that it has lost stay unchanged."""
    with connection.cursor() as cursor:
        cursor.execute(_RENEW, {"token": token, "end_users": list(end_user_ids), "seconds": seconds})


def release(*, lease: Lease) -> None:
    """Release a lease and set when its user's remaining work is due; a lost lease stays unchanged.

    The row is locked by a separate first statement, so that the second one sees work enqueued before the lock.
    """
    with transaction.atomic():
        held = fetch(
            "select 1 from outbox_userlease where end_user_id = %s and token = %s for update",
            [lease.end_user_id, lease.token],
        )
        if held:
            with connection.cursor() as cursor:
                cursor.execute(_RELEASE, [lease.end_user_id])


# Pipeline runs are done in order, so only the first one decides when they are due; index work has no order.
_RELEASE = """
update outbox_userlease lease set leased_until = null, token = null, ready_at = least(
    (select run_at from outbox_outboxrow
     where end_user_id = lease.end_user_id and state in ('pending', 'running') and kind = 'run_pipeline'
     order by id limit 1),
    (select min(run_at) from outbox_outboxrow
     where end_user_id = lease.end_user_id and state in ('pending', 'running') and kind <> 'run_pipeline')
) where end_user_id = %s
"""
