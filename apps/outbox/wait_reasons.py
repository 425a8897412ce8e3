"""Why an end user's work waits, to be shown in the console and the API."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from apps.outbox.model_pauses import Pause
from apps.outbox.models import ModelPause, OutboxRow, UserLease
from apps.pipeline.core.enums import WorkKind, WorkState


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
        reason = Pause(model=pause.model, since=pause.since, error=pause.error).reason
        return WaitReason(reason=reason, since=pause.since, next_try_at=pause.until)
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
