"""Prometheus metrics: state, queue, what the processes of this data folder count, and who may read them."""

import hmac
from collections.abc import Iterator
from datetime import UTC
from ipaddress import IPv6Address, ip_address
from typing import Any

from django.conf import settings
from django.db.models import Case, Count, Min, QuerySet, Value, When
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils import timezone
from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from rest_framework.request import Request

from apps.alerts.enums import ProblemCode
from apps.alerts.models import Alert
from apps.alerts.verdict import ALERTS
from apps.health.evaluation_metrics import evaluation_metrics
from apps.health.readiness import ServiceStatus, readiness
from apps.memories.models import Memory, MemoryLink
from apps.outbox.models import ModelPause, OutboxRow, UserLease
from apps.outbox.querysets import OutboxRowQuerySet
from apps.pipeline.core.enums import LinkStatus, WorkKind, WorkState
from apps.pipeline.core.identifiers import Prefix, show
from apps.telemetry.metrics import CountedCollector
from apps.tenants.models import Erasure
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.funnel_metrics import Measure
from apps.traces.tallies import sums_since

STATES = ("pending", "running", "waiting", "dead")


def queue_metrics() -> Iterator[Metric]:
    """Yield the metrics; ages in seconds. Needs the system scope."""
    yield from _outbox()
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


def _count(rows: QuerySet[Any], *, since: str) -> tuple[int, float]:
    """Count rows; return also the age of the oldest in seconds, 0 without rows."""
    found = rows.aggregate(count=Count("pk"), age=Now() - Min(since))
    return found["count"], found["age"].total_seconds() if found["age"] else 0.0


class ServiceCollector:
    """Collects the state of /readyz, queued work by kind, today's model calls, and the figures of evaluation."""

    def collect(self) -> Iterator[Metric]:
        """Return the metrics; ages in seconds."""
        with system_scope(SystemWork.HEALTH):
            return iter(list(_metrics()))


def _metrics() -> Iterator[Metric]:
    ready = readiness()
    yield _gauge("up", "1 if the database is reachable and migrated", ready.status is not ServiceStatus.UNAVAILABLE)
    yield _gauge("degraded", "1 if anything is wrong", ready.status is not ServiceStatus.OK)
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
        labels = ["project", "model"]
        paused = GaugeMetricFamily("memplatform_model_paused", "1 while a model does not answer", labels=labels)
        ages = GaugeMetricFamily("memplatform_model_paused_seconds", "Age of the pause of a model", labels=labels)
        now = timezone.now()
        for pause in ModelPause.objects.order_by("project_id", "model"):
            owner = [show(Prefix.PROJECT, pause.project_id), pause.model]
            paused.add_metric(owner, 1)
            ages.add_metric(owner, max(0.0, (now - pause.since).total_seconds()))
        yield from (paused, ages)
        # Kinds without any are 0, so that a monitor sees when they are over.
        alerts = GaugeMetricFamily("memplatform_alerts_open", "Alerts that nobody has acknowledged", labels=["kind"])
        counts = dict(Alert.objects.open().order_by().values_list("kind").annotate(alerts=Count("id")))
        for each in ALERTS:
            alerts.add_metric([each.value], counts.get(each.value, 0))
        yield alerts
        yield from _models()
        yield from evaluation_metrics()


def _gauge(name: str, description: str, value: float | None) -> Metric:
    return GaugeMetricFamily(f"memplatform_{name}", description, value=value)


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


# Proxies add the caller's address to the first header, or write it to the second. Callers can send both with any
# addresses, so all addresses have to be private.
_FORWARDING = ("X-Forwarded-For", "X-Real-IP")


def caller_may_read_metrics(request: HttpRequest | Request) -> bool:
    """Return True if a request shows the token, or where none is configured comes from a loopback or private address.

    A request that went through a proxy counts as coming from wherever the proxy says.
    """
    if settings.METRICS_TOKEN:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        is_same = hmac.compare_digest(token.strip().encode(), settings.METRICS_TOKEN.encode())
        return scheme.lower() == "bearer" and is_same
    if "Forwarded" in request.headers:  # whatever it says is taken for an address that is not private
        return False
    named = [address for header in _FORWARDING for address in request.headers.get(header, "").split(",") if address]
    for address in (request.META.get("REMOTE_ADDR", ""), *named):
        try:
            read = ip_address(address.strip())
        except ValueError:
            return False
        mapped = read.ipv4_mapped if isinstance(read, IPv6Address) else None
        if not (mapped or read).is_private:
            return False
    return True
