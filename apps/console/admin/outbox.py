"""Owed work and the leases under which it is done."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.actions.errors import Refused
from apps.actions.get_or_create import actor_of
from apps.actions.queue.discard_work import discard_work
from apps.actions.queue.retry_work import retry_work
from apps.console.admin.cells import chipped, shortened
from apps.console.admin.pages import ReadOnlyPage
from apps.outbox.models import OutboxRow, UserLease, WorkerHeartbeat


@admin.register(OutboxRow)
class OutboxRowPage(ReadOnlyPage):
    """What is owed, failing and dead; a dead row can be retried, an open one buried."""

    list_display = (
        "id",
        chipped("state"),
        "kind",
        "end_user",
        "project",
        "attempts",
        "run_at",
        shortened("last_error", 80),
        "created_at",
    )
    list_filter = ("state", "kind", "project")
    list_select_related = ("end_user", "project")
    search_fields = ("subject_id", "end_user__external_id", "last_error")
    actions = ("retry", "bury")

    def has_settle_permission(self, request: HttpRequest) -> bool:
        """Let those settle rows who could change them."""
        return bool(request.user.has_perm("outbox.change_outboxrow"))

    @admin.action(description="Retry the selected rows now", permissions=["settle"])
    def retry(self, request: HttpRequest, queryset: QuerySet[OutboxRow]) -> None:
        """Make rows due now."""
        self._each(request, queryset, lambda row: retry_work(project_id=row.project_id, row_id=row.id))

    @admin.action(description="Bury the selected rows", permissions=["settle"])
    def bury(self, request: HttpRequest, queryset: QuerySet[OutboxRow]) -> None:
        """Give rows up."""
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
            self.message_user(request, f"{done} done.", messages.SUCCESS)


@admin.register(UserLease)
class UserLeasePage(ReadOnlyPage):
    """Whose work is ready, and who is at it."""

    list_display = ("end_user", "project", "ready_at", "leased_until", "token")
    list_filter = (("ready_at", admin.EmptyFieldListFilter), ("leased_until", admin.EmptyFieldListFilter), "project")
    list_select_related = ("end_user", "project")
    search_fields = ("end_user__external_id",)


@admin.register(WorkerHeartbeat)
class WorkerHeartbeatPage(ReadOnlyPage):
    """Workers that have lately told that they live."""

    list_display = ("host", "pid", "done", "in_flight", "started_at", "seen_at", "worker")
    ordering = ("-seen_at",)
    search_fields = ("host",)
