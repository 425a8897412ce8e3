"""Leases on end users: claim, renew and release the right to do one user's work. All times are the database's.

A lease lets one worker at a time do an end user's work, in the order in which it was accepted. Every write of a
worker checks the lease's token, so a worker that has lost its lease can't commit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction

from apps.outbox.fetch import fetch, fetch_each
from apps.outbox.ready_users import ready_users
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


# Leases a user that a look has found ready, if it still is and nobody else is about to lease it.
_CLAIM = """
with free as (
    select end_user_id from outbox_userlease
    where end_user_id = %(end_user)s and waits_for = %(waits_for)s and ready_at <= %(ready_by)s
      and (leased_until is null or leased_until < statement_timestamp())
    for update skip locked
)
update outbox_userlease lease
set leased_until = statement_timestamp() + %(seconds)s * interval '1 second', token = %(token)s, waits_for = ''
from free where lease.end_user_id = %(end_user)s
returning lease.end_user_id, lease.project_id,
    exists (select from outbox_outboxrow where end_user_id = %(end_user)s and state = 'running')
"""


def claim(*, limit: int, seconds: int, only: UUID | None = None) -> list[Lease]:
    """Lease up to `limit` end users that have work ready and no current lease, under a new token.

    With a token of the worker, a lease that was interrupted would be valid again once the same worker claims the user
    again, and what it computes from withdrawn turns would be committed.

    Projects take turns; within a project the user that has waited longest comes first. Of the users that wait for a
    paused model, one is leased when the next try is due. The queues of archived projects are paused. Users are looked
    for without a lock and leased one by one, since no lock may span end users of a distributed database; fewer are
    leased than were ready where other workers are faster.
    """
    token = new_id()
    values = [
        {
            "end_user": each.end_user_id,
            "waits_for": each.queue.waits_for,
            "ready_by": each.queue.ready_by,
            "seconds": seconds,
            "token": token,
        }
        for each in ready_users(limit=limit, outage_seconds=outage_seconds(), only=only)
    ]
    return [
        Lease(end_user_id=end_user, project_id=project, token=token, is_retry_after_crash=is_retry_after_crash)
        for end_user, project, is_retry_after_crash in (fetch_each(_CLAIM, values) if values else ())
    ]


def is_anyone_ready() -> bool:
    """Return True if an end user could be leased. Nothing is locked."""
    return bool(ready_users(limit=1, outage_seconds=outage_seconds()))


_RENEW = """
update outbox_userlease set leased_until = statement_timestamp() + %s * interval '1 second'
where end_user_id = %s and token = %s returning 1
"""


def renew(*, held: Sequence[Lease], seconds: int) -> None:
    """Extend leases; those that were lost stay unchanged. They are locked in one order, as wherever several are."""
    ordered = sorted(held, key=lambda lease: lease.end_user_id)
    fetch_each(_RENEW, [(seconds, lease.end_user_id, lease.token) for lease in ordered])


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


# Pipeline runs are done in order. So a run that is tried again decides when they are due; runs that wait for further
# turns are done with the first run that is due (see batching). Index work has no order.
_READY_AT = """
least(
    (select coalesce(
        (array_agg(run_at order by id) filter (where attempts > 0 or waiting_since is not null))[1], min(run_at)
     ) from outbox_outboxrow
     where end_user_id = %(end_user)s and state in ('pending', 'running') and kind = 'run_pipeline'),
    (select min(run_at) from outbox_outboxrow
     where end_user_id = %(end_user)s and state in ('pending', 'running') and kind <> 'run_pipeline')
)
"""
_RELEASE = f"""
update outbox_userlease set leased_until = null, token = null, waits_for = %(waits_for)s, ready_at = {_READY_AT}
where end_user_id = %(end_user)s
"""  # noqa: S608  (only constants of this module)
_SET_READY_AT = f"""
update outbox_userlease set ready_at = {_READY_AT} where end_user_id = %(end_user)s
"""  # noqa: S608  (only constants of this module)


def set_ready_at(*, end_user_id: UUID) -> None:
    """Set when an end user's work is due, after the times of some of it have changed."""
    with connection.cursor() as cursor:
        cursor.execute(_SET_READY_AT, {"end_user": end_user_id})


def revoke(*, end_user_id: UUID) -> None:
    """Revoke the lease after the current commit of its holder; no work of the user is due then.

    A worker that holds it can't commit any more: it loses the lease.
    """
    with connection.cursor() as cursor:
        cursor.execute("delete from outbox_userlease where end_user_id = %s", [end_user_id])


_PUT_BACK = """
update outbox_outboxrow set state = 'pending', attempts = greatest(attempts - 1, 0)
where end_user_id = %s and state = 'running'
"""


def interrupt(*, end_user_id: UUID) -> None:
    """Revoke the lease after the current commit of its holder; the user's work starts again.

    Work that was running is put back with its attempt: it did not fail. Otherwise a few deletions in a row would give
    it up as work that kills its workers.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "update outbox_userlease set leased_until = null, token = null, ready_at = now() where end_user_id = %s",
            [end_user_id],
        )
        cursor.execute(_PUT_BACK, [end_user_id])
