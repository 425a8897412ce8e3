"""Prometheus metrics of waiting work, read from the database: queue, leases, vectors, erasures, review."""

from collections.abc import Iterator
from typing import Any

from django.db import connection
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from apps.pipeline.core.enums import WorkKind

# Done rows, which are most, are left out: each state here has an index of its own. `waiting` is a pending row that
# waits for a model or the database.
_ROWS = """
select kind, case when state = 'pending' and waiting_since is not null then 'waiting' else state end as shown,
    count(*), coalesce(extract(epoch from now() - min(created_at)), 0)::float
from outbox_outboxrow where state in ('pending', 'running') group by 1, 2
union all
select kind, 'dead', count(*), coalesce(extract(epoch from now() - min(created_at)), 0)::float
from outbox_outboxrow where state = 'dead' group by 1
"""
# `ready`: work is due and nobody does it. Users who wait for a model are not ready.
_LEASES = """
select 'held', count(*), 0::float
from outbox_userlease where token is not null and leased_until >= now()
union all
select 'expired', count(*), coalesce(extract(epoch from now() - min(leased_until)), 0)::float
from outbox_userlease where token is not null and leased_until < now()
union all
select 'ready', count(*), coalesce(extract(epoch from now() - min(ready_at)), 0)::float
from outbox_userlease where token is null and ready_at <= now() and waits_for = ''
    and project_id not in (select id from tenants_project where archived_at is not null)
"""
_ERASURES = """
select count(*), coalesce(extract(epoch from now() - min(requested_at)), 0)::float
from tenants_erasure where finished_at is null
"""
# Joined: where there are several servers, a subquery for each project is refused.
_REVIEW = """
select (select count(*) from memories_memory memory join tenants_project project on project.id = memory.project_id
        where memory.status = 'pending_review' and project.archived_at is null),
    (select count(*) from memories_memorylink link join tenants_project project on project.id = link.project_id
        where link.status = 'open' and project.archived_at is null)
"""
STATES = ("pending", "running", "waiting", "dead")


def queue_metrics() -> Iterator[Metric]:
    """Yield the metrics; ages in seconds. Needs the system scope."""
    yield from _outbox()
    yield from _leases()
    ((erasures, age),) = _fetch(_ERASURES)
    yield GaugeMetricFamily("memplatform_erasures_open", "Erasures of end users that go on", value=erasures)
    yield GaugeMetricFamily("memplatform_erasure_oldest_seconds", "Age of the oldest open erasure", value=age)
    ((memories, links),) = _fetch(_REVIEW)
    yield GaugeMetricFamily("memplatform_review_pending", "Memories that wait for a reviewer", value=memories)
    yield GaugeMetricFamily("memplatform_review_open_links", "Contradictions and possible duplicates", value=links)


def _outbox() -> Iterator[Metric]:
    """Yield the open and dead work by kind and state; combinations without rows are 0."""
    labels = ["kind", "state"]
    rows = GaugeMetricFamily("memplatform_outbox_rows", "Work by kind and state", labels=labels)
    ages = GaugeMetricFamily("memplatform_outbox_oldest_seconds", "Age of the oldest such work", labels=labels)
    found = {(kind, state): (count, age) for kind, state, count, age in _fetch(_ROWS)}
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
    for state, count, age in _fetch(_LEASES):
        leases.add_metric([state], count)
        if state != "held":
            ages.add_metric([state], age)
    yield from (leases, ages)


def _fetch(sql: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())
