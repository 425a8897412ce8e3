"""Rows from which alerts arise: paused models, queued and dead work, tallies; and alerts themselves."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from apps.alerts.enums import ProblemCode
from apps.alerts.models import Alert, AlertRecipients
from apps.outbox.models import ModelPause, OutboxRow, PausedKind, UserLease, WorkerHeartbeat
from apps.pipeline.core.enums import WorkKind, WorkState
from apps.pipeline.core.identifiers import new_id
from apps.tenants.models import Project
from tests.outbox.outbox_factories import make_user

MODEL = "openai:down"
MINUTE = timedelta(minutes=1)


def beat(now: datetime | None = None) -> None:
    WorkerHeartbeat.objects.create(worker=new_id(), host="here", pid=1, seen_at=now or timezone.now())


def pause(project: Project, *, since: datetime) -> ModelPause:
    return ModelPause.objects.create(
        project=project, model=MODEL, kind=PausedKind.MODEL, since=since, until=since, error="it said: I live in Bonn"
    )


def work(project: Project, *, since: datetime, state: WorkState = WorkState.PENDING, error: str = "") -> OutboxRow:
    """Enqueue a run of a user of its own, who waits for the model."""
    user = make_user(project, f"user {new_id()}")
    UserLease.objects.create(end_user_id=user, project=project, ready_at=since, waits_for=MODEL)
    return OutboxRow.objects.create(
        end_user_id=user,
        project=project,
        kind=WorkKind.RUN_PIPELINE,
        subject_id=new_id(),
        state=state,
        created_at=since,
        last_error=error,
    )


def alert(project: Project, kind: ProblemCode = ProblemCode.WORK_LATE, **values: Any) -> Alert:
    said = {"cause": "The oldest queued work has waited for 12 min.", "cost": "1 piece of work is queued."}
    return Alert.objects.create(project=project, kind=kind.value, **{**said, **values})


def recipients(project: Project, url: str = "", mails: tuple[str, ...] = ()) -> AlertRecipients:
    """Write recipients as they are, with a secret that tests know."""
    return AlertRecipients.objects.create(
        project=project, webhook_url=url, webhook_secret=SECRET if url else "", mail_addresses=list(mails)
    )


SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
