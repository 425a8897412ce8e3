"""Querysets of the outbox."""

from datetime import timedelta

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Now

from apps.pipeline.core.enums import WorkKind, WorkState
from apps.tenants.models import Project

DISCARDED = "discarded by "  # begins the error of discarded work
ALIVE_WITHIN = timedelta(seconds=150)  # two minutes and a half: one look may be late


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

    def overdue(self) -> "OutboxRowQuerySet":
        """Filter open rows that wait for nothing but their turn, oldest first.

        Runs that wait for further turns of their session are left out, and so are sessions that are read again: all of
        a project's may be requested at once.
        """
        waits_for_turns = Q(kind=WorkKind.RUN_PIPELINE, attempts=0, waiting_since=None, run_at__gt=Now())
        return self.open().exclude(waits_for_turns).exclude(kind=WorkKind.READ_AGAIN).order_by("created_at")

    def needs_somebody(self) -> "OutboxRowQuerySet":
        """Filter rows that failed for good, save those that were discarded."""
        return self.dead().exclude(last_error__startswith=DISCARDED)

    def open_by_kind(self) -> dict[str, int]:
        """Count open rows by kind."""
        counted = self.open().order_by().values_list("kind").annotate(rows=Count("id"))
        return dict(counted)


class WorkerHeartbeatQuerySet(QuerySet["WorkerHeartbeat"]):  # type: ignore[name-defined]  # models import this file
    """Heartbeats of worker processes."""

    def alive(self) -> "WorkerHeartbeatQuerySet":
        """Filter processes that worked a moment ago: a schedule lets one look for work every minute."""
        return self.filter(seen_at__gte=Now() - ALIVE_WITHIN)
