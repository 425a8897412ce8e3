"""Leases on end users: claim, renew and release the right to do one user's work. All times are the database's.

A lease lets one worker at a time do an end user's work, in the order in which it was accepted. Every write of a
worker checks the lease's token, so a worker that has lost its lease can't commit.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Case, Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Subquery, Value, When, Window
from django.db.models.functions import Coalesce, Extract, Greatest, Least, Mod, Now, RowNumber

from apps.outbox.leased import LostLease
from apps.outbox.models import ModelPause, OutboxRow, UserLease
from apps.pipeline.core.enums import WorkKind, WorkState

OPEN = (WorkState.PENDING, WorkState.RUNNING)


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to do one end user's work until the lease expires.

    `is_retry_after_crash` is set where an earlier worker left a row running, so the work may have killed it.
    """

    end_user_id: UUID
    project_id: UUID
    token: UUID
    is_retry_after_crash: bool = False


def claim(*, limit: int, seconds: int, only: UUID | None = None) -> list[Lease]:
    """Lease up to `limit` end users that have work ready and no current lease, under a new token.

    Fewer are leased than were ready where other workers are faster.
    """
    running = OutboxRow.objects.filter(end_user=OuterRef("pk"), state=WorkState.RUNNING)
    ready = list(_ready(only).annotate(was_left=Exists(running)).values_list("pk", "project_id", "was_left")[:limit])
    if not ready:
        return []
    due = UserLease.objects.filter(pk__in=[user for user, _, _ in ready], ready_at__lte=Now())
    token, leased = due.lease(seconds=seconds, waits_for="")
    return [
        Lease(user, project, token, is_retry_after_crash=was_left)
        for user, project, was_left in ready
        if user in leased
    ]


def _ready(only: UUID | None) -> QuerySet[UserLease]:
    """Return the leases that can be claimed, in the order in which they should be.

    Round robin over projects: the first ready user of each project comes before the second of any, and the leases that
    a project holds already count as its first turns. Within a project the user that has waited longest comes first. The
    queues of archived projects are paused.

    Of the users that wait for a paused model, one is leased when the next try is due: the one that has waited longest,
    or at every second try the newest, so that one request that always times out does not fail all tries. Users that
    have waited for longer than MODEL_OUTAGE_DAYS are leased so that their work is given up.
    """
    pause = ModelPause.objects.filter(project=OuterRef("project"), model=OuterRef("waits_for"))
    held = UserLease.objects.leased().filter(project=OuterRef("project"), lease_token__isnull=False)
    given_up = Now() - timedelta(days=settings.MODEL_OUTAGE_DAYS)
    ready = UserLease.objects.free().filter(ready_at__lte=Now(), project__archived_at=None)
    if only is not None:
        ready = ready.filter(pk=only)
    waited = Extract("ready_at", "epoch")
    newest_first = Case(When(failures=Value(0), then=-waited), default=waited)
    return (
        ready.annotate(
            paused_until=Subquery(pause.values("until")),
            paused_since=Subquery(pause.values("since")),
            failures=Mod(Subquery(pause.values("failures")), 2, output_field=IntegerField()),
            held=Coalesce(Subquery(held.order_by().values("project").annotate(n=Count("pk")).values("n")), 0),
        )
        .filter(
            Q(paused_until=None) | Q(paused_until__lte=Now()) | Q(paused_since__lte=given_up, ready_at__lte=given_up)
        )
        .annotate(
            try_number=Case(
                When(
                    paused_until__lte=Now(),
                    then=Window(RowNumber(), partition_by=["project", "waits_for"], order_by=newest_first),
                ),
                default=Value(1),
            ),
        )
        .filter(try_number=1)
        .annotate(turn=F("held") + Window(RowNumber(), partition_by=["project"], order_by="ready_at"))
        .order_by("turn", "ready_at")
    )


def renew(*, held: Collection[Lease], seconds: int) -> None:
    """Extend leases; those that were lost stay unchanged."""
    mine = UserLease.objects.filter(pk__in=[each.end_user_id for each in held])
    mine.renew(tokens={each.token for each in held}, seconds=seconds)


def hold(lease: Lease, **read: Any) -> Mapping[str, Any]:
    """Lock the row of a lease in the caller's transaction; return the expressions to `read` with it. Raises LostLease.

    It runs several times per turn, and computes the database's time and the like only for those who ask for it.
    """
    rows = UserLease.objects.filter(pk=lease.end_user_id, lease_token=lease.token).select_for_update()
    for row in rows.values("end_user_id", **read):
        return row
    raise LostLease(f"the lease of end user {lease.end_user_id} is gone")


def release(*, lease: Lease, waits_for: str = "") -> bool:
    """Release a lease and set when its user's remaining work is due; return False for a lost lease.

    If the user `waits_for` a model, it is not leased again before a try of that model is due.
    The row is locked by a separate first statement, so that the second one sees work enqueued before the lock.
    """
    with transaction.atomic():
        mine = UserLease.objects.filter(pk=lease.end_user_id, lease_token=lease.token)
        if not mine.select_for_update().first():
            return False
        mine.update(leased_until=None, lease_token=None, waits_for=waits_for, ready_at=_ready_at(lease.end_user_id))
        return True


def set_ready_at(*, end_user_id: UUID) -> None:
    """Set when an end user's work is due, after the times of some of it have changed."""
    UserLease.objects.filter(pk=end_user_id).update(ready_at=_ready_at(end_user_id))


def _ready_at(end_user_id: UUID) -> Least:
    """Return when an end user's open work is due.

    Pipeline runs are done in order. So a run that is tried again decides when they are due; runs that wait for further
    turns are done with the first run that is due (see batching). Index work has no order.
    """
    work = OutboxRow.objects.filter(end_user=end_user_id, state__in=OPEN)
    runs = work.filter(kind=WorkKind.RUN_PIPELINE)
    tried = runs.filter(Q(attempts__gt=0) | Q(waiting_since__isnull=False)).order_by("id")
    others = work.exclude(kind=WorkKind.RUN_PIPELINE)
    first, earliest, other = (
        Subquery(rows.values("run_at")[:1]) for rows in (tried, runs.order_by("run_at"), others.order_by("run_at"))
    )
    return Least(Coalesce(first, earliest), other)


def mark_ready(*, end_user_ids: Collection[UUID]) -> int:
    """Make the work of end users due now, unless none is open; return how many leases there are."""
    rows = UserLease.objects.filter(pk__in=end_user_ids)
    return rows.update(ready_at=Least("ready_at", Now()), waits_for="")


def revoke(*, end_user_id: UUID) -> None:
    """Revoke the lease after the current commit of its holder; no work of the user is due then.

    A worker that holds it can't commit any more: it loses the lease.
    """
    UserLease.objects.filter(pk=end_user_id).delete()


def interrupt(*, end_user_id: UUID) -> None:
    """Revoke the lease after the current commit of its holder; the user's work starts again.

    Work that was running is put back with its attempt: it did not fail. Otherwise a few deletions in a row would give
    it up as work that kills its workers.
    """
    UserLease.objects.filter(pk=end_user_id).update(leased_until=None, lease_token=None, ready_at=Now())
    running = OutboxRow.objects.filter(end_user=end_user_id, state=WorkState.RUNNING)
    running.update(state=WorkState.PENDING, attempts=Greatest(F("attempts") - 1, 0))
