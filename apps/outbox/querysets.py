"""Querysets of the outbox, and a summary of its backlog."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min, Q, QuerySet
from django.db.models.functions import Now

from apps.pipeline.core.enums import WorkKind, WorkState
from apps.tenants.models import Project

ALIVE_WITHIN = timedelta(seconds=150)  # two minutes and a half: one look may be late


@dataclass(frozen=True, slots=True)
class Backlog:
    """When the oldest open row, and the oldest open index row, was enqueued (None: none is open); the dead rows.

    Runs that wait for further turns of their session don't count as open, nor do sessions that are read again: all of
    a project's may be requested at once.
    """

    oldest: datetime | None
    oldest_index: datetime | None
    dead: int


class OutboxRowQuerySet(QuerySet["OutboxRow"]):  # type: ignore[name-defined]  # models import this file
    """Outbox rows by state."""

    def open(self) -> "OutboxRowQuerySet":
        """Filter rows that are pending or running."""
        return self.filter(state__in=[WorkState.PENDING, WorkState.RUNNING])

    def dead(self) -> "OutboxRowQuerySet":
        """Filter rows that failed for good or were discarded."""
        return self.filter(state=WorkState.DEAD)

    def of_working_projects(self) -> "OutboxRowQuerySet":
        """Filter rows of projects that are not archived, whose queue is paused."""
        return self.exclude(project__in=Project.objects.filter(archived_at__isnull=False))

    def backlog(self) -> Backlog:
        """Summarise open and dead rows; each query uses its own partial index."""
        waits_for_turns = Q(kind=WorkKind.RUN_PIPELINE, attempts=0, waiting_since=None, run_at__gt=Now())
        oldest = self.open().aggregate(
            oldest=Min("created_at", filter=~waits_for_turns & ~Q(kind=WorkKind.READ_AGAIN)),
            oldest_index=Min("created_at", filter=Q(kind=WorkKind.INDEX_MEMORY)),
        )
        return Backlog(**oldest, dead=self.dead().count())

    def open_by_kind(self) -> dict[str, int]:
        """Count open rows by kind."""
        counted = self.open().order_by().values_list("kind").annotate(rows=Count("id"))
        return dict(counted)


class WorkerHeartbeatQuerySet(QuerySet["WorkerHeartbeat"]):  # type: ignore[name-defined]  # models import this file
    """Heartbeats of worker processes."""

    def alive(self) -> "WorkerHeartbeatQuerySet":
        """Filter processes that worked a moment ago: a schedule lets one look for work every minute."""
        return self.filter(seen_at__gte=Now() - ALIVE_WITHIN)
