"""Prometheus metrics of waiting work, read from the database: queue, leases, vectors, erasures, review."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Case, Count, Min, QuerySet, Value, When
from django.db.models.functions import Now
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from apps.memories.models import Memory, MemoryLink
from apps.outbox.models import OutboxRow, UserLease
from apps.outbox.querysets import OutboxRowQuerySet
from apps.pipeline.core.enums import LinkStatus, WorkKind, WorkState
from apps.tenants.models import Erasure

STATES = ("pending", "running", "waiting", "dead")


def queue_metrics() -> Iterator[Metric]:
    """Yield the metrics; ages in seconds. Needs the system scope."""
    yield from _outbox()
    yield from _leases()
    erasures, age = _count(Erasure.objects.filter(finished_at__isnull=True), since="requested_at")
    yield GaugeMetricFamily("memplatform_erasures_open", "Erasures of end users that go on", value=erasures)
    yield GaugeMetricFamily("memplatform_erasure_oldest_seconds", "Age of the oldest open erasure", value=age)
    memories = Memory.objects.awaiting_review().filter(project__archived_at__isnull=True).count()
    links = MemoryLink.objects.filter(status=LinkStatus.OPEN, project__archived_at__isnull=True).count()
    yield GaugeMetricFamily("memplatform_review_pending", "Memories that wait for a reviewer", value=memories)
    yield GaugeMetricFamily("memplatform_review_open_links", "Contradictions and possible duplicates", value=links)


def _outbox() -> Iterator[Metric]:
    """Yield the open and dead work by kind and state; combinations without rows are 0."""
    labels = ["kind", "state"]
    rows = GaugeMetricFamily("memplatform_outbox_rows", "Work by kind and state", labels=labels)
    ages = GaugeMetricFamily("memplatform_outbox_oldest_seconds", "Age of the oldest such work", labels=labels)
    # Done rows, which are most, are left out: open and dead rows have an index each. `waiting` is a pending row that
    # waits for a model or the database.
    waits = When(state=WorkState.PENDING, waiting_since__isnull=False, then=Value("waiting"))
    rows_of_work = OutboxRowQuerySet(OutboxRow)
    found = {
        (kind, state): (count, age.total_seconds())
        for part in (rows_of_work.open(), rows_of_work.dead())
        for kind, state, count, age in part.order_by()
        .values_list("kind", Case(waits, default="state"))
        .annotate(count=Count("id"), age=Now() - Min("created_at"))
    }
    for kind in WorkKind:
        for state in STATES:
            count, age = found.get((kind.value, state), (0, 0.0))
            rows.add_metric([kind.value, state], count)
            ages.add_metric([kind.value, state], age)
    yield from (rows, ages)
    backlog = sum(
        count for (kind, state), (count, _) in found.items() if kind == WorkKind.INDEX_MEMORY and state != "dead"
    )
    yield GaugeMetricFamily("memplatform_vector_backlog", "Memories that wait for vectors", value=backlog)


def _leases() -> Iterator[Metric]:
    leases = GaugeMetricFamily("memplatform_leases", "End users by the state of their lease", labels=["state"])
    ages = GaugeMetricFamily(
        "memplatform_lease_oldest_seconds", "Longest time since a lease expired or work was ready", labels=["state"]
    )
    held = UserLease.objects.filter(lease_token__isnull=False)
    # Work is due and nobody does it. Users who wait for a model are not ready.
    ready = UserLease.objects.filter(lease_token__isnull=True, ready_at__lte=Now(), waits_for="")
    leases.add_metric(["held"], held.filter(leased_until__gte=Now()).count())
    for state, rows, since in (
        ("expired", held.filter(leased_until__lt=Now()), "leased_until"),
        ("ready", ready.filter(project__archived_at__isnull=True), "ready_at"),
    ):
        count, age = _count(rows, since=since)
        leases.add_metric([state], count)
        ages.add_metric([state], age)
    yield from (leases, ages)


def _count(rows: QuerySet[Any], *, since: str) -> tuple[int, float]:
    """Count rows; return also the age of the oldest in seconds, 0 without rows."""
    found = rows.aggregate(count=Count("pk"), age=Now() - Min(since))
    return found["count"], found["age"].total_seconds() if found["age"] else 0.0
