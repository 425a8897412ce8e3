"""What is wrong now: silent models, missing workers, failed and late work, webhooks that deliver nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Exists, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from apps.actions.number_formats import age
from apps.console.labels import count_of
from apps.console.selectors.dashboard import LATE_AFTER_SECONDS
from apps.events.deliveries import ALERT_AFTER
from apps.events.models import Webhook
from apps.events.read import failing_webhooks
from apps.outbox.models import ModelPause, OutboxRow, WorkerHeartbeat
from apps.pipeline.core.enums import PausedKind
from apps.tenants.models import Project


@dataclass(frozen=True, slots=True)
class TroubleLine:
    """One thing that is wrong, and the label of the link to the page that mends it; `query` are its parameters."""

    text: str
    remedy: str
    query: str = ""
    page: str = "queue"


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong in a project, causes before what follows from them, and how much work has failed."""

    lines: tuple[TroubleLine, ...]
    failed: int


@dataclass(frozen=True, slots=True)
class _Readings:
    """Failed work, since when the oldest work waits, and which of the other conditions hold."""

    failed: int
    waits_since: datetime | None
    is_paused: bool
    has_worker: bool
    has_failing_webhook: bool


def find_trouble(*, project_id: UUID, is_archived: bool = False) -> Trouble:
    """Return what is wrong now, from small tables and partial indexes.

    One query, another one with a silent model, and with a failing webhook.

    Nothing is wrong in an archived project, whose work waits on purpose.
    """
    if is_archived:
        return Trouble((), 0)
    now = _read(project_id)
    return Trouble(tuple(_lines(project_id, now)), now.failed)


def _read(project_id: UUID) -> _Readings:
    rows = OutboxRow.objects.filter(project_id=project_id)
    failed = rows.dead().order_by().values("project_id").annotate(rows=Count("id")).values("rows")
    found = Project.objects.filter(pk=project_id).values_list(
        Coalesce(Subquery(failed), 0),
        Subquery(rows.open().order_by("created_at").values("created_at")[:1]),
        Exists(ModelPause.objects.filter(project_id=project_id)),
        Exists(WorkerHeartbeat.objects.alive()),
        Exists(_failing_webhooks(project_id)),
    )
    return _Readings(*found.get())


def _lines(project_id: UUID, now: _Readings) -> Iterator[TroubleLine]:
    pauses = ModelPause.objects.filter(project_id=project_id).order_by("since") if now.is_paused else ()
    for pause in pauses:
        what = "embedder" if pause.kind == PausedKind.EMBEDDER else "model"
        yield TroubleLine(f"The {what} {pause.model} does not answer.", "See its error and try it now")
    if not now.has_worker:
        yield TroubleLine("No worker is running: accepted turns are waiting.", "See the workers")
    if now.failed:
        failed = count_of(now.failed, "entry", "entries")
        yield TroubleLine(f"{failed} of the queue failed.", "Retry the failed work", "state=dead")
    waited = (timezone.now() - now.waits_since).total_seconds() if now.waits_since else 0.0
    if waited > LATE_AFTER_SECONDS and now.has_worker and not now.is_paused:
        yield TroubleLine(f"The oldest accepted work has waited for {age(waited)}.", "See what waits")
    for webhook in _failing_webhooks(project_id).order_by("name") if now.has_failing_webhook else ():
        what = "was paused: its receiver takes nothing" if webhook.paused_at else "delivers nothing"
        yield TroubleLine(f"The webhook {webhook.name} {what}.", "See the alerts", page="alerts")


def _failing_webhooks(project_id: UUID) -> QuerySet[Webhook]:
    """Return webhooks that deliver nothing for longer than a receiver needs to be restarted."""
    is_long = Q(failing_since__lte=Now() - ALERT_AFTER) | Q(paused_at__isnull=False)
    return failing_webhooks().filter(is_long, project_id=project_id)
