"""Leases: the right to do an end user's work, claimed, renewed and given back. The database's clock rules.

An end user's lease lets one worker at a time do that user's work, in the order in which it was accepted. Every
write of a worker carries the lease's token, so that one which lost its lease can't commit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction

from apps.outbox.fetch import fetch


class LostLease(Exception):
    """The lease went to another worker; nothing of this one may be committed."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to do one end user's work for a while; `is_suspect` when who began it last never came to an end."""

    end_user_id: UUID
    project_id: UUID
    token: UUID
    is_retry_after_crash: bool = False


# The users of a queue who can be leased: a queue is what one project's users wait for, a paused model or nothing.
_READY = """
select end_user_id, ready_at from outbox_userlease
where project_id = queue.project_id and waits_for = queue.waits_for and ready_at <= queue.ready_by
  and (leased_until is null or leased_until < statement_timestamp())
  and (%(only)s::uuid is null or end_user_id = %(only)s)
"""
# Projects take turns: the first ready user of each comes before the second of any, so that a project with a flood of
# work keeps nobody else waiting. Queues are found by skipping along the index of what is ready.
# Of those who wait for a paused model none is leased before its next try is due, then one: who has waited longest, or
# at every second try the one who came last, so that a request that no server ever answers does not spoil all tries.
# Those who have waited for longer than an outage may last are leased to be given up.
_CLAIM = f"""
with recursive place as (
    (select project_id, waits_for from outbox_userlease where ready_at is not null
     order by project_id, waits_for limit 1)
    union all
    select following.project_id, following.waits_for from place cross join lateral (
        select project_id, waits_for from outbox_userlease
        where ready_at is not null and (project_id, waits_for) > (place.project_id, place.waits_for)
        order by project_id, waits_for limit 1
    ) following
), queue as (
    select place.project_id, place.waits_for,
        case when pause.until <= statement_timestamp() then 1 else %(limit)s end as most,
        pause.until <= statement_timestamp() and pause.failures %% 2 = 0 as is_reversed,
        case when pause.until is null or pause.until <= statement_timestamp() then statement_timestamp()
             when pause.since <= statement_timestamp() - %(outage)s * interval '1 second'
             then statement_timestamp() - %(outage)s * interval '1 second' else '-infinity' end as ready_by
    from place left join outbox_modelpause pause
        on pause.project_id = place.project_id and pause.model = place.waits_for
), candidate as (
    select ready.end_user_id, ready.ready_at,
           row_number() over (partition by queue.project_id order by ready.ready_at) as place
    from queue cross join lateral (
        ({_READY} and queue.is_reversed is not true order by ready_at limit queue.most)
        union all
        ({_READY} and queue.is_reversed order by ready_at desc limit queue.most)
    ) ready
), free as (
    select end_user_id from outbox_userlease
    where end_user_id in (select end_user_id from candidate order by place, ready_at limit %(limit)s)
      and (leased_until is null or leased_until < statement_timestamp())
    for update skip locked
)
update outbox_userlease lease
set leased_until = statement_timestamp() + %(seconds)s * interval '1 second', token = %(token)s, waits_for = ''
from free where lease.end_user_id = free.end_user_id
returning lease.end_user_id, lease.project_id,
    exists (select from outbox_outboxrow where end_user_id = lease.end_user_id and state = 'running')
"""  # noqa: S608  (only constants of this module)


def claim(*, token: UUID, limit: int, seconds: int, only: UUID | None = None) -> list[Lease]:
    """Lease up to `limit` end users whose work is ready and whom nobody works for.

    Projects take turns; within one, who has waited longest comes first. Of those who wait for a model that is paused
    one is leased when the next try is due.
    """
    values = {"token": token, "limit": limit, "seconds": seconds, "only": only, "outage": outage_seconds()}
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
    """Prolong a worker's leases on the end users that it still works for; those that it lost are left alone."""
    with connection.cursor() as cursor:
        cursor.execute(_RENEW, {"token": token, "end_users": list(end_user_ids), "seconds": seconds})


def outage_seconds() -> float:
    """Return how long work waits for a model or the database before it is given up."""
    return timedelta(days=settings.MODEL_OUTAGE_DAYS).total_seconds()


def release(*, lease: Lease, waits_for: str = "") -> None:
    """Give a lease back before its work is done, ready again at once; a lost lease is left alone.

    With the model that its first work `waits_for`, the user is not leased again before that model's pause ends.
    The row is locked by a statement of its own first: work that was added meanwhile is then seen by the next.
    """
    with transaction.atomic():
        held = fetch(
            "select 1 from outbox_userlease where end_user_id = %s and token = %s for update",
            [lease.end_user_id, lease.token],
        )
        if held:
            _give_back(lease, waits_for)


# Ready when the first pipeline run is due, or any index work: runs behind one that waits would only be looked at.
_GIVE_BACK = """
update outbox_userlease lease set leased_until = null, token = null, waits_for = %(waits_for)s, ready_at = least(
    (select run_at from outbox_outboxrow
     where end_user_id = lease.end_user_id and state in ('pending', 'running') and kind = 'run_pipeline'
     order by id limit 1),
    (select min(run_at) from outbox_outboxrow
     where end_user_id = lease.end_user_id and state in ('pending', 'running') and kind <> 'run_pipeline')
) where end_user_id = %(end_user)s
"""


def _give_back(lease: Lease, waits_for: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_GIVE_BACK, {"end_user": lease.end_user_id, "waits_for": waits_for})
