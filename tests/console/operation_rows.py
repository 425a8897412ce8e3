"""Rows that show a project in operation: workers, alerts, webhooks, imports."""

from datetime import timedelta

from django.utils import timezone

from apps.alerts.enums import AlertState, ProblemCode
from apps.alerts.models import Alert, AlertDelivery, AlertRecipients, SchedulerHeartbeat
from apps.events.models import EventLog, ProjectEvent, Webhook, WebhookDelivery
from apps.imports.models import FileImport, ImportFile
from apps.items.models import StoredItem
from apps.outbox.models import JobRound, ModelPause, PausedKind, WorkerHeartbeat
from apps.pipeline.core.identifiers import new_id
from apps.tenants.limits import RateLimit, seconds_to_wait
from apps.tenants.models import Project

HOSTILE = "<script>alert(1)</script>"


def add_operations(project: Project) -> None:
    """Add a worker, a rate limit, a model that does not answer, and a preview of a rule."""
    now = timezone.now()
    JobRound.objects.create(job=HOSTILE[:64], position={"after": HOSTILE})
    WorkerHeartbeat.objects.create(
        worker=new_id(), host=HOSTILE, pid=1, started_at=now - timedelta(hours=1), seen_at=now
    )
    seconds_to_wait(RateLimit("key:some", most=10, seconds=60))
    StoredItem.objects.create(project=project, namespace=[HOSTILE], key=HOSTILE, value={"f": HOSTILE}, words=HOSTILE)
    ModelPause.objects.create(
        project=project, model=HOSTILE, kind=PausedKind.MODEL, since=now, until=now, error=HOSTILE
    )
    SchedulerHeartbeat.objects.create(host=HOSTILE, seen_at=now)
    alert = Alert.objects.create(
        project=project,
        kind=ProblemCode.MODEL_UNAVAILABLE,
        subject=HOSTILE,
        state=AlertState.ACKNOWLEDGED,
        cause=HOSTILE,
        cost=HOSTILE,
        acknowledged_at=now,
        acknowledged_by="person:1",
        note=HOSTILE,
    )
    AlertRecipients.objects.create(project=project, webhook_url=HOSTILE, mail_addresses=[HOSTILE])
    AlertDelivery.objects.create(
        project=project, alert=alert, event="opened", channel="mail", recipient=HOSTILE, last_error=HOSTILE
    )
    _add_webhook(project)


def add_import(project: Project) -> None:
    """Add an import with a file and a problem."""
    made = FileImport.objects.create(
        project=project,
        file_name=HOSTILE[:255],
        format="mem0",
        user_id=HOSTILE[:255],
        state="failed",
        error=HOSTILE,
        counts={"turns": 1, "problems": 1},
        problems=[{"at": HOSTILE, "reason": HOSTILE}],
    )
    ImportFile.objects.create(project=project, file_import=made, content=b"[]")


def _add_webhook(project: Project) -> None:
    """Add a failing webhook with an event that was not taken."""
    now = timezone.now()
    EventLog.objects.create(project=project, last_number=1)
    webhook = Webhook.objects.create(
        project=project,
        name=HOSTILE[:100],
        url=HOSTILE,
        event_types=["memory.created"],
        created_by="person:1",
        paused_by=HOSTILE[:100],
        pause_reason=HOSTILE,
    )
    event = ProjectEvent.objects.create(
        project=project, type="memory.created", number=1, details={HOSTILE: HOSTILE}, trace_id=None
    )
    WebhookDelivery.objects.create(
        project=project,
        webhook=webhook,
        event=event,
        event_type=event.type,
        number=1,
        state="failed",
        give_up_at=now,
        last_error=HOSTILE,
    )
