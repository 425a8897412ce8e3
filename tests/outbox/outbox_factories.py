"""End users with queued work, and a worker that claims them."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from apps.outbox import enqueue, leases, processing
from apps.outbox.leases import Lease
from apps.outbox.models import ModelPause, OutboxRow, UserLease
from apps.outbox.processing import NextWork
from apps.pipeline.core.enums import WorkKind
from apps.pipeline.core.identifiers import end_user_id, new_id
from apps.tenants.models import EndUser, Project


def make_user(project: Project, name: str = "ana") -> UUID:
    derived = end_user_id(project_id=project.id, user_id=name)
    EndUser.objects.get_or_create(id=derived, defaults={"project": project, "external_id": name})
    return derived


def add_work(
    project: Project, user: UUID, *subjects: UUID, kind: WorkKind = WorkKind.RUN_PIPELINE, session: UUID | None = None
) -> list[int]:
    """Enqueue work of the user, one row per subject or for a new one; return the rows' numbers."""
    wanted = subjects or (new_id(),)
    for subject in wanted:
        enqueue.enqueue(end_user_id=user, project_id=project.id, kind=kind, subject_ids=[subject], session_id=session)
    rows = OutboxRow.objects.filter(end_user_id=user, subject_id__in=wanted)
    return list(rows.order_by("id").values_list("id", flat=True))


def claim(*, limit: int = 100, seconds: int = 60, only: UUID | None = None) -> list[Lease]:
    """Claim users that are ready."""
    return leases.claim(limit=limit, seconds=seconds, only=only)


def claim_one(user: UUID) -> Lease:
    (lease,) = claim(only=user)
    return lease


def finish(lease: Lease, work: Sequence[NextWork]) -> None:
    """Mark work as done in a transaction of its own."""
    with transaction.atomic():
        processing.finish(lease=lease, work=work)


def expire(user: UUID) -> None:
    """Let the user's lease expire, as if its worker had died long ago."""
    past = timezone.now() - timedelta(hours=1)
    UserLease.objects.filter(end_user_id=user).update(leased_until=past)


def make_due(user: UUID) -> None:
    """Make all work of the user due."""
    past = timezone.now() - timedelta(hours=1)
    OutboxRow.objects.filter(end_user_id=user).update(run_at=past)
    UserLease.objects.filter(end_user_id=user, ready_at__isnull=False).update(ready_at=past)


def make_try_due() -> None:
    """Make the next try of each paused model due."""
    ModelPause.objects.update(until=timezone.now() - timedelta(seconds=1))


def let_pass(time: timedelta) -> None:
    """Move all times of the user's work back."""
    ModelPause.objects.update(since=F("since") - time, until=F("until") - time)
    OutboxRow.objects.update(
        run_at=F("run_at") - time, created_at=F("created_at") - time, waiting_since=F("waiting_since") - time
    )
    UserLease.objects.update(ready_at=F("ready_at") - time)


def row(number: int) -> OutboxRow:
    return OutboxRow.objects.get(id=number)
