"""What is wrong in a project now: the one verdict for alerts, the banner of each page and the Health page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, Q, Subquery
from django.db.models.functions import Coalesce

from apps.actions.number_formats import age, count_of
from apps.actions.queue.services import DISCARDED
from apps.alerts.enums import AlertKind
from apps.events.deliveries import ALERT_AFTER
from apps.events.enums import DeliveryState
from apps.events.read import failing_webhooks
from apps.outbox.enums import PausedKind
from apps.outbox.model_pauses import waiting_requests
from apps.outbox.models import ModelPause, OutboxRow, WorkerHeartbeat
from apps.tenants.models import Project

LATE = timedelta(minutes=1)  # of work: from then on it is shown
# From then on somebody is told: before that a model may just be loading, and a worker may be restarting.
TELL_AFTER = {
    AlertKind.MODEL_UNAVAILABLE: timedelta(minutes=1),
    AlertKind.EMBEDDER_UNAVAILABLE: timedelta(minutes=1),
    AlertKind.NO_WORKER: timedelta(minutes=1),
    AlertKind.QUEUE_AGE: timedelta(minutes=5),
    AlertKind.DEAD_WORK: timedelta(0),
    AlertKind.WEBHOOK_FAILING: timedelta(0),
}


_LATE_COST = "What was said since then is remembered late."


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to do, as the label of a link, and the page of the console where; `query` are its parameters."""

    label: str
    page: str
    query: str = ""


REMEDIES = {
    AlertKind.MODEL_UNAVAILABLE: Remedy("See its error and try it now", "queue"),
    AlertKind.EMBEDDER_UNAVAILABLE: Remedy("See its error and try it now", "queue"),
    AlertKind.NO_WORKER: Remedy("See the workers", "queue"),
    AlertKind.QUEUE_AGE: Remedy("See what waits", "queue"),
    AlertKind.DEAD_WORK: Remedy("Retry the failed work", "queue", "state=dead"),
    AlertKind.WEBHOOK_FAILING: Remedy("See its deliveries", "webhooks"),
}


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that is wrong: what, since when, what it costs, and the figures behind that.

    Alerts send these sentences to others, so they hold no text of end users and no error of a server, which may quote
    one.
    """

    kind: AlertKind
    cause: str
    cost: str
    since: datetime | None = None
    subject: str = ""  # a model or webhook
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def remedy(self) -> Remedy:
        """Return what to do."""
        return REMEDIES[self.kind]

    def is_told(self, *, now: datetime) -> bool:
        """Return True if it has lasted long enough to tell somebody."""
        return self.since is None or now - self.since >= TELL_AFTER[self.kind]


@dataclass(frozen=True, slots=True)
class _Readings:
    """Failed work, since when the oldest work waits, and which of the other conditions hold."""

    dead: int
    waits_since: datetime | None
    has_pause: bool
    has_worker: bool
    has_failing_webhook: bool


def troubles_of(*, project_id: UUID, now: datetime, is_archived: bool = False) -> list[Trouble]:
    """Return what is wrong, causes before what may follow from them; one query where nothing is.

    Nothing is wrong in an archived project, whose work waits on purpose.
    """
    if is_archived:
        return []
    read = _read(project_id)
    found = list(_silent_models(project_id)) if read.has_pause else []
    if not read.has_worker:
        found.append(_no_worker(read.waits_since, now))
    if not found and read.waits_since and now - read.waits_since > LATE:
        found.append(_queue_age(read.waits_since, now))
    if read.dead:
        found.append(_dead_work(read.dead))
    return found + (list(_silent_receivers(project_id, now)) if read.has_failing_webhook else [])


def dead_work(troubles: Sequence[Trouble]) -> int:
    """Return how much failed work needs somebody."""
    return next((int(each.figures["dead"]) for each in troubles if each.kind is AlertKind.DEAD_WORK), 0)


def _read(project_id: UUID) -> _Readings:
    rows = OutboxRow.objects.filter(project_id=project_id)
    needs_somebody = rows.dead().filter(~Q(last_error__startswith=DISCARDED))
    dead = needs_somebody.order_by().values("project_id").annotate(rows=Count("id")).values("rows")
    found = Project.objects.filter(pk=project_id).values_list(
        Coalesce(Subquery(dead), 0),
        Subquery(rows.open().order_by("created_at").values("created_at")[:1]),
        Exists(ModelPause.objects.filter(project_id=project_id)),
        Exists(WorkerHeartbeat.objects.alive()),
        Exists(failing_webhooks().filter(project_id=project_id)),
    )
    return _Readings(*found.get())


def _silent_models(project_id: UUID) -> Iterator[Trouble]:
    for pause in ModelPause.objects.filter(project_id=project_id).order_by("since"):
        waiting = waiting_requests(project_id=project_id, model=pause.model)
        is_embedder = pause.kind == PausedKind.EMBEDDER
        yield Trouble(
            AlertKind.EMBEDDER_UNAVAILABLE if is_embedder else AlertKind.MODEL_UNAVAILABLE,
            f"The {'embedder' if is_embedder else 'model'} {pause.model} has not answered since {_time(pause.since)}.",
            f"{_waits(waiting, 'request')} for it; what was said is remembered once it answers.",
            since=pause.since,
            subject=pause.model,
            figures={"waiting": waiting},
        )


def _no_worker(waits_since: datetime | None, now: datetime) -> Trouble:
    waited = f", and the oldest work has waited for {_age(waits_since, now)}" if waits_since else ""
    # Without work nobody misses a worker.
    return Trouble(AlertKind.NO_WORKER, f"No worker is running{waited}.", _LATE_COST, since=waits_since or now)


def _dead_work(dead: int) -> Trouble:
    return Trouble(
        AlertKind.DEAD_WORK,
        f"{count_of(dead, 'piece', 'pieces')} of work failed for good.",
        "What these requests say is not remembered until somebody retries them.",
        figures={"dead": dead},
    )


def _queue_age(waits_since: datetime, now: datetime) -> Trouble:
    cause = f"The oldest queued work has waited for {_age(waits_since, now)}."
    return Trouble(AlertKind.QUEUE_AGE, cause, _LATE_COST, since=waits_since)


def _silent_receivers(project_id: UUID, now: datetime) -> Iterator[Trouble]:
    """Yield webhooks that deliver nothing for longer than a receiver needs to be restarted."""
    waiting = Count("deliveries", filter=Q(deliveries__state=DeliveryState.WAITING))
    for webhook in failing_webhooks().filter(project_id=project_id).annotate(waiting=waiting).order_by("name"):
        since = webhook.failing_since or webhook.paused_at or now
        if webhook.paused_at is None and now - since < ALERT_AFTER:
            continue
        yield Trouble(
            AlertKind.WEBHOOK_FAILING,
            f"The webhook {webhook.name} has delivered nothing since {_time(since)}"
            f"{', and is paused' if webhook.paused_at else ''}.",
            f"{_waits(webhook.waiting, 'event')} for it, and what is not taken within three days is given up.",
            since=since,
            subject=webhook.name,
            figures={"waiting": webhook.waiting},
        )


def _waits(count: int, what: str) -> str:
    return f"{count_of(count, what)} {'waits' if count == 1 else 'wait'}"


def _age(since: datetime, now: datetime) -> str:
    return age((now - since).total_seconds())


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
