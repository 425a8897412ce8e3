"""What /metrics tells Prometheus: all of it read from the database, so that every process tells the same."""

from collections.abc import Iterator
from datetime import UTC

from django.utils import timezone
from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from apps.api.readiness import readiness
from apps.api.schemas.health import Health
from apps.outbox.models import OutboxRow
from apps.outbox.querysets import OutboxRowQuerySet
from apps.pipeline.core.funnel_metrics import Measure
from apps.pipeline.core.identifiers import Prefix, show
from apps.traces.tallies import sums_since


class ServiceCollector:
    """Collects what /readyz knows, how much is owed by kind, and what models have answered today."""

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; ages in seconds."""
        ready = readiness()
        yield _gauge("up", "1 when the database answers and is migrated", ready.status is not Health.UNAVAILABLE)
        yield _gauge(
            "degraded", "1 when no worker lives, or work waits too long or is dead", ready.status is not Health.OK
        )
        yield _gauge("oldest_owed_seconds", "Age of the oldest owed work", ready.oldest_owed_seconds)
        yield _gauge("vector_lag_seconds", "Age of the oldest memory without vectors", ready.vector_lag_seconds)
        yield _gauge("dead_rows", "Work that was given up", ready.dead)
        yield _gauge("workers_alive", "Workers that told lately that they live", ready.workers_alive)
        if ready.migrations:
            yield _owed()
            yield from _models()


def _gauge(name: str, told: str, value: float) -> Metric:
    return GaugeMetricFamily(f"memplatform_{name}", told, value=value)


def _owed() -> Metric:
    owed = GaugeMetricFamily("memplatform_owed_rows", "Open work by kind", labels=["kind"])
    for kind, rows in OutboxRowQuerySet(OutboxRow).open_by_kind().items():
        owed.add_metric([kind], rows)
    return owed


def _models() -> Iterator[Metric]:
    """Yield what the models of each project have answered since midnight (UTC), as the tallies of each minute tell."""
    calls = _by_project("model_calls_today", "Model calls")
    answers = _by_project("model_answers_today", "Model answers by what they were", "answer")
    invalid = _by_project("model_invalid_objects_today", "Objects of model answers that were no memories")
    families = {Measure.CALLS: calls, Measure.ANSWERS: answers, Measure.INVALID_OBJECTS: invalid}
    today = timezone.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    for project_id, measure, reason, amount in sums_since(today, measures=families):
        families[measure].add_metric([show(Prefix.PROJECT, project_id), *([reason] if reason else [])], amount)
    yield from families.values()


def _by_project(name: str, told: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"memplatform_{name}", f"{told}, since midnight (UTC)", labels=["project", *labels])


REGISTRY = CollectorRegistry()
REGISTRY.register(ServiceCollector())
