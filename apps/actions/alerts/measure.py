"""Measure what the alerts of a project depend on."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Q

from apps.actions.alerts.conditions import MOST_HOURS, Measured, SilentModel, SilentReceiver
from apps.actions.evaluation.figures import LATEST_WEEKS, first_week, labelled_weeks, latest_figures
from apps.actions.evaluation.share import Share
from apps.actions.queue.services import DISCARDED
from apps.events.models import WebhookDelivery
from apps.events.read import failing_webhooks
from apps.outbox.model_pauses import waiting_requests
from apps.outbox.models import ModelPause, OutboxRow, WorkerHeartbeat
from apps.pipeline.core.enums import DeliveryState, PausedKind, Stage
from apps.traces.funnel_metrics import Measure, Tallies
from apps.traces.models import HourlyLatency, HourlyTally
from apps.traces.tallies import HOUR, hour_of


def measure(*, project_id: UUID, now: datetime) -> Measured:
    """Read the queue, the paused models and the last hours of a project, with at most twelve queries."""
    rows = OutboxRow.objects.filter(project_id=project_id)
    backlog = rows.backlog()
    hours = hours_until(now)
    return Measured(
        now=now,
        workers=WorkerHeartbeat.objects.alive().count(),
        open_work=sum(rows.open_by_kind().values()),
        oldest_seconds=_age(backlog.oldest, now),
        vector_lag_seconds=_age(backlog.oldest_index, now),
        # What somebody has discarded needs nobody's attention.
        dead=rows.dead().filter(~Q(last_error__startswith=DISCARDED)).count() if backlog.dead else 0,
        precision=_precision(project_id),
        silent_models=tuple(
            SilentModel(
                model=pause.model,
                kind=PausedKind(pause.kind),
                since=pause.since,
                waiting=waiting_requests(project_id=project_id, model=pause.model),
            )
            for pause in ModelPause.objects.filter(project_id=project_id).order_by("since")
        ),
        silent_receivers=_silent_receivers(project_id, now),
        hours=_tallies(project_id, hours),
        latencies=_latencies(project_id, hours),
    )


def _precision(project_id: UUID) -> Share | None:
    found = labelled_weeks(since=first_week(LATEST_WEEKS), project_id=project_id).get(project_id)
    figures = latest_figures(found) if found else None
    return figures.precision if figures else None


def _silent_receivers(project_id: UUID, now: datetime) -> tuple[SilentReceiver, ...]:
    """Return the webhooks that deliver nothing; those that a person has paused are silent on purpose."""
    failing = list(failing_webhooks().filter(project_id=project_id).order_by("name"))
    waiting = _waiting_deliveries([each.id for each in failing]) if failing else {}
    return tuple(
        SilentReceiver(
            webhook=each.name,
            since=each.failing_since or each.paused_at or now,
            waiting=waiting.get(each.id, 0),
            is_paused=each.paused_at is not None,
        )
        for each in failing
    )


def _waiting_deliveries(webhook_ids: Sequence[UUID]) -> dict[UUID, int]:
    """Count what waits, by webhook."""
    rows = WebhookDelivery.objects.filter(webhook_id__in=webhook_ids, state=DeliveryState.WAITING)
    return dict(rows.order_by().values_list("webhook_id").annotate(waiting=Count("id")))


def hours_until(now: datetime) -> list[datetime]:
    """Return the starts of the last MOST_HOURS hours, oldest first; the last one is the current hour."""
    return [hour_of(now) - HOUR * ago for ago in reversed(range(MOST_HOURS))]


def _tallies(project_id: UUID, hours: list[datetime]) -> list[Tallies]:
    sums: defaultdict[datetime, dict[tuple[Measure, str, str], float]] = defaultdict(dict)
    rows = HourlyTally.objects.filter(project_id=project_id, hour__gte=hours[0], hour__lte=hours[-1])
    for hour, name, stage, reason, amount in rows.values_list("hour", "measure", "stage", "reason", "amount"):
        sums[hour][Measure(name), stage, reason] = amount
    return [Tallies(sums[hour]) for hour in hours]


def _latencies(project_id: UUID, hours: list[datetime]) -> dict[Stage, list[dict[int, int]]]:
    found: defaultdict[Stage, defaultdict[datetime, dict[int, int]]] = defaultdict(lambda: defaultdict(dict))
    rows = HourlyLatency.objects.filter(project_id=project_id, hour__gte=hours[0], hour__lte=hours[-1])
    for hour, stage, bucket, spans in rows.values_list("hour", "stage", "bucket", "spans"):
        found[Stage(stage)][hour][bucket] = spans
    return {stage: [by_hour[hour] for hour in hours] for stage, by_hour in found.items()}


def _age(moment: datetime | None, now: datetime) -> float:
    return 0.0 if moment is None else max(0.0, (now - moment).total_seconds())
