"""Pauses: a model that does not answer a project is only called for single tries. All times are the database's.

A failed call begins a pause. Once its `until` has passed, one caller may try again; a failed try prolongs the pause,
and a call that is answered ends it. Users that wait are leased again as soon as it ends (apps/outbox/leases.py).
"""

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from apps.outbox.models import MODEL_NAME_LENGTH, ModelPause, OutboxRow, PausedKind, UserLease
from apps.pipeline.core.enums import RUNS, WorkKind, WorkState

MOST_PAUSE = timedelta(minutes=5)
LEAST_RETRY_AFTER, MOST_RETRY_AFTER = 1.0, 24 * 3_600.0  # seconds; what a server may ask for
DELETED_AFTER = timedelta(hours=1)


def find_pause(*, project_id: UUID, model: str) -> ModelPause | None:
    """Return the pause of a model, None if there is none. If a try is due, this caller may try.

    Another caller may try if this one has reported nothing for as long as a lease lasts.
    """
    row = ModelPause.objects.filter(project=project_id, model=model[:MODEL_NAME_LENGTH])
    may_try = row.filter(until__lte=Now()).update(until=Now() + timedelta(seconds=settings.WORK_LEASE_SECONDS))
    pause = row.first()
    if pause is not None:
        pause.may_try = bool(may_try)
    return pause


def record_failure(
    *,
    project_id: UUID,
    model: str,
    kind: PausedKind,
    error: str,
    retry_after_seconds: float | None = None,
    was_try: bool = False,
) -> tuple[ModelPause, bool]:
    """Begin the pause of a model, or prolong it after a failed try; return it, and True if it has just begun.

    It lasts as long as the server asks for, or else 5 s (MODEL_PAUSE_SECONDS), 10 s, 20 s … to 5 minutes, each with up
    to 50 % jitter. Of calls that fail at the same time the first begins the pause. The others don't prolong it, unless
    a server names a longer wait.
    """
    asked = retry_after_seconds
    if asked is not None:
        asked = min(max(asked, LEAST_RETRY_AFTER), MOST_RETRY_AFTER)
    first = {
        "kind": kind,
        "error": error[:1_000],
        "since": Now(),
        "until": Now() + _wait(asked, failures=0),
    }
    with transaction.atomic():
        pauses = ModelPause.objects.annotate(now=Now()).select_for_update()
        name = model[:MODEL_NAME_LENGTH]
        pause, is_new = pauses.get_or_create(project_id=project_id, model=name, defaults=first)
        if is_new:
            pause.refresh_from_db()
        else:
            pause.kind, pause.error = kind, error[:1_000]
            if was_try:
                pause.until = pause.now + _wait(asked, failures=pause.failures)
                pause.failures += 1
            elif asked is not None:
                pause.until = max(pause.until, pause.now + timedelta(seconds=asked))
            pause.save()
    return pause, is_new


def _wait(asked: float | None, *, failures: int) -> timedelta:
    """Return the length of a pause after so many failed tries; `asked` are the seconds that the server asks for."""
    if asked is not None:
        return timedelta(seconds=asked)
    seconds = min(settings.MODEL_PAUSE_SECONDS * 2 ** min(failures, 30), MOST_PAUSE.total_seconds())
    return timedelta(seconds=seconds * random.uniform(1.0, 1.5))  # noqa: S311  (jitter needs no cryptography)


def end_pause(*, project_id: UUID, model: str) -> None:
    """End the pause of a model, because it answers again."""
    ModelPause.objects.filter(project_id=project_id, model=model[:MODEL_NAME_LENGTH]).delete()


def end_all_pauses(*, project_id: UUID) -> None:
    """End the pauses of all models of a project, so that each is called as if it had always answered."""
    ModelPause.objects.filter(project_id=project_id).delete()


def try_now(*, project_id: UUID) -> int:
    """Make the next try of each paused model of a project due now; return how many models these are."""
    return int(ModelPause.objects.filter(project_id=project_id).update(until=Now()))


def waiting_requests(*, project_id: UUID, model: str) -> int:
    """Count the requests and sessions of users that wait for a paused model."""
    leases = UserLease.objects.filter(project_id=project_id, ready_at__isnull=False, waits_for=model)
    runs = OutboxRow.objects.filter(project_id=project_id, state=WorkState.PENDING, kind__in=RUNS)
    return runs.filter(end_user_id__in=leases.values("end_user_id")).count()


def delete_unused_pauses() -> int:
    """Delete pauses that no work waits for and that had no try for an hour; return how many these were."""
    waiting = UserLease.objects.filter(ready_at__isnull=False)
    untried = ModelPause.objects.filter(until__lt=Now() - DELETED_AFTER)
    unused = [
        pause.pk for pause in untried if not waiting.filter(project=pause.project_id, waits_for=pause.model).exists()
    ]
    return int(untried.filter(pk__in=unused).delete()[0])


@dataclass(frozen=True, slots=True)
class WaitReason:
    """Why work waits, since when, and when it is tried again."""

    reason: str
    since: datetime | None
    next_try_at: datetime


def find_wait_reason(*, end_user_id: UUID, subject_id: UUID) -> WaitReason | None:
    """Return why a piece of work waits; None if it is being done, or will be as soon as a worker is free."""
    rows = OutboxRow.objects.filter(end_user_id=end_user_id)
    own = rows.filter(subject_id=subject_id, state=WorkState.PENDING).first()
    if own is None:
        return None
    pause = pause_of_user(end_user_id=end_user_id)
    if pause is not None:
        return WaitReason(reason=pause.reason, since=pause.since, next_try_at=pause.until)
    is_run = own.kind == WorkKind.RUN_PIPELINE
    first = (rows.filter(kind=own.kind, state=WorkState.PENDING).order_by("id").first() if is_run else None) or own
    if first.run_at <= timezone.now():
        return None
    if not own.attempts and own.waiting_since is None and not first.last_error:
        reason = "further turns of the session may share a call to the model"
        return WaitReason(reason=reason, since=own.created_at, next_try_at=own.run_at)
    reason = first.last_error if first == own else f"an earlier request of the user waits: {first.last_error}"
    return WaitReason(reason=reason, since=first.waiting_since, next_try_at=first.run_at)


def pause_of_user(*, end_user_id: UUID) -> ModelPause | None:
    """Return the pause that the first work of an end user waits for."""
    lease = UserLease.objects.filter(end_user_id=end_user_id).exclude(waits_for="").first()
    if lease is None:
        return None
    return ModelPause.objects.filter(project_id=lease.project_id, model=lease.waits_for).first()
