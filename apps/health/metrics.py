"""Prometheus metrics: state, the same from every process, and what the processes of this data folder count."""

from collections.abc import Iterator
from datetime import UTC

from django.db.models import Count
from django.utils import timezone
from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from apps.alerts.enums import ProblemCode
from apps.alerts.models import Alert
from apps.alerts.verdict import ALERTS
from apps.health.evaluation_metrics import evaluation_metrics
from apps.health.queue_metrics import queue_metrics
from apps.health.readiness import readiness
from apps.health.responses import ServiceStatus
from apps.outbox.models import ModelPause, OutboxRow
from apps.pipeline.core.identifiers import Prefix, show
from apps.telemetry.metrics import CountedCollector
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.funnel_metrics import Measure
from apps.traces.tallies import sums_since


class ServiceCollector:
    """Collects the state of /readyz, queued work by kind, today's model calls, and the figures of evaluation."""

    def collect(self) -> Iterator[Metric]:
        """Return the metrics; ages in seconds."""
        with system_scope(SystemWork.HEALTH):
            return iter(list(_metrics()))


def _metrics() -> Iterator[Metric]:
    ready = readiness()
    yield _gauge("up", "1 if the database is reachable and migrated", ready.status is not ServiceStatus.UNAVAILABLE)
    yield _gauge(
        "degraded",
        "1 if anything is wrong",
        ready.status is not ServiceStatus.OK,
    )
    problems = GaugeMetricFamily("memplatform_problem", "1 while it is wrong, as /readyz says", labels=["code"])
    for code in ProblemCode:
        problems.add_metric([code.value], code in {each.code for each in ready.problems})
    yield problems
    yield _gauge("oldest_queued_seconds", "Age of the oldest queued work", ready.oldest_queued_seconds or 0)
    yield _gauge("vector_lag_seconds", "Age of the oldest memory without vectors", ready.vector_lag_seconds or 0)
    yield _gauge("dead_rows", "Work that failed for good", ready.dead or 0)
    yield _gauge("scheduler_seconds", "Age of the heartbeat of the scheduler", ready.scheduler_seconds)
    yield _gauge("workers_alive", "Workers with a recent heartbeat", ready.workers_alive or 0)
    if ready.migrations:
        queued = GaugeMetricFamily("memplatform_queued_rows", "Queued work by kind", labels=["kind"])
        for kind, rows in OutboxRow.objects.open_by_kind().items():
            queued.add_metric([kind], rows)
        yield queued
        yield from queue_metrics()
        yield from _paused()
        yield _alerts()
        yield from _models()
        yield from evaluation_metrics()


def _gauge(name: str, description: str, value: float | None) -> Metric:
    return GaugeMetricFamily(f"memplatform_{name}", description, value=value)


def _paused() -> Iterator[Metric]:
    """Yield the models that do not answer a project, and for how long."""
    labels = ["project", "model"]
    paused = GaugeMetricFamily("memplatform_model_paused", "1 while a model does not answer", labels=labels)
    ages = GaugeMetricFamily("memplatform_model_paused_seconds", "Age of the pause of a model", labels=labels)
    now = timezone.now()
    for pause in ModelPause.objects.order_by("project_id", "model"):
        owner = [show(Prefix.PROJECT, pause.project_id), pause.model]
        paused.add_metric(owner, 1)
        ages.add_metric(owner, max(0.0, (now - pause.since).total_seconds()))
    yield from (paused, ages)


def _alerts() -> Metric:
    """Return the open alerts of all projects; kinds without any are 0, so that a monitor sees when they are over."""
    family = GaugeMetricFamily("memplatform_alerts_open", "Alerts that nobody has acknowledged", labels=["kind"])
    counts = dict(Alert.objects.open().order_by().values_list("kind").annotate(alerts=Count("id")))
    for kind in ALERTS:
        family.add_metric([kind.value], counts.get(kind.value, 0))
    return family


def _models() -> Iterator[Metric]:
    """Yield the model calls of each project since midnight UTC, from the hourly tallies (updated every minute)."""
    calls = _by_project("model_calls_today", "Model calls")
    answers = _by_project("model_answers_today", "Model responses by kind", "answer")
    invalid = _by_project("model_invalid_objects_today", "Objects in model responses that were not valid memories")
    cut = _by_project("model_cut_prompts_today", "Prompts of which the server has read less than it was sent", "model")
    families = {
        Measure.CALLS: calls,
        Measure.ANSWERS: answers,
        Measure.INVALID_OBJECTS: invalid,
        Measure.CUT_PROMPTS: cut,
    }
    today = timezone.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    for project_id, measure, reason, amount in sums_since(today, measures=families):
        families[measure].add_metric([show(Prefix.PROJECT, project_id), *([reason] if reason else [])], amount)
    yield from families.values()


def _by_project(name: str, description: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"memplatform_{name}", f"{description}, since midnight (UTC)", labels=["project", *labels])


REGISTRY = CollectorRegistry()
REGISTRY.register(ServiceCollector())
REGISTRY.register(CountedCollector())
