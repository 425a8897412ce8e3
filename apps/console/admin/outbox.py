"""Admin of the queue, its leases and workers."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.actions.errors import Refused
from apps.actions.get_or_create import actor_of
from apps.actions.queue.discard_work import discard_work
from apps.actions.queue.retry_work import retry_work
from apps.console.admin.base import ReadOnlyAdmin
from apps.console.admin.cells import chip_column, truncated_column
from apps.console.labels import count_of
from apps.outbox.models import JobRound, ModelPause, OutboxRow, UserLease, WorkerHeartbeat


@admin.register(OutboxRow)
class OutboxRowAdmin(ReadOnlyAdmin):
    """Queue entries; failed ones can be retried, pending ones discarded."""

    list_display = (
        "id",
        chip_column("state"),
        "kind",
        "end_user",
        "project",
        "attempts",
        "run_at",
        truncated_column("last_error", 80),
        "created_at",
    )
    list_filter = ("state", "kind", "project")
    list_select_related = ("end_user", "project")
    search_fields = ("subject_id", "end_user__external_id", "last_error")
    actions = ("retry", "discard")

    def has_manage_permission(self, request: HttpRequest) -> bool:
        """Allow retry and discard for users with the permission to change entries."""
        return bool(request.user.has_perm("outbox.change_outboxrow"))

    @admin.action(description="Retry the selected entries now", permissions=["manage"])
    def retry(self, request: HttpRequest, queryset: QuerySet[OutboxRow]) -> None:
        """Make entries due now."""
        self._each(request, queryset, lambda row: retry_work(project_id=row.project_id, row_id=row.id))

    @admin.action(description="Discard the selected entries", permissions=["manage"])
    def discard(self, request: HttpRequest, queryset: QuerySet[OutboxRow]) -> None:
        """Mark entries as failed."""
        actor = actor_of(None, request.user.pk)
        self._each(request, queryset, lambda row: discard_work(project_id=row.project_id, row_id=row.id, actor=actor))

    def _each(self, request: HttpRequest, rows: QuerySet[OutboxRow], do: Callable[[OutboxRow], Any]) -> None:
        done = 0
        for row in rows:
            try:
                do(row)
                done += 1
            except Refused as refused:
                self.message_user(request, f"{row}: {refused}.", messages.ERROR)
        if done:
            self.message_user(request, f"{count_of(done, 'entry', 'entries')} changed.", messages.SUCCESS)


@admin.register(UserLease)
class UserLeaseAdmin(ReadOnlyAdmin):
    """Which end user has work ready, and which worker holds the lease."""

    list_display = ("end_user", "project", "ready_at", "leased_until", "waits_for", "lease_token")
    list_filter = (("ready_at", admin.EmptyFieldListFilter), ("leased_until", admin.EmptyFieldListFilter), "project")
    list_select_related = ("end_user", "project")
    search_fields = ("end_user__external_id",)


@admin.register(ModelPause)
class ModelPauseAdmin(ReadOnlyAdmin):
    """Models that do not answer."""

    list_display = ("model", "kind", "project", "since", "until", "failures", truncated_column("error", 80))
    list_filter = ("kind", "project")
    list_select_related = ("project",)
    search_fields = ("model", "error")


@admin.register(WorkerHeartbeat)
class WorkerHeartbeatAdmin(ReadOnlyAdmin):
    """Recent heartbeats of workers."""

    list_display = ("host", "pid", "done", "in_flight", "started_at", "seen_at", "worker")
    ordering = ("-seen_at",)
    search_fields = ("host",)


@admin.register(JobRound)
class JobRoundAdmin(ReadOnlyAdmin):
    """The latest rounds of daily jobs, finished or not."""

    list_display = ("job", "changed", "started_at", "finished_at", "leased_until", "position")
