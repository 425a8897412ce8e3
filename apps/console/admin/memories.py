"""Memories, with what a reviewer can do to them."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from apps.actions.errors import Refused
from apps.actions.memories.retract import retract
from apps.actions.memories.revise import Revision, revise
from apps.console.admin.base import ReadOnlyAdmin, fields_of
from apps.console.admin.cells import chip_column, identifier_column, json_column, meter_column, pairs_table
from apps.console.admin.memory_inlines import (
    IncomingMemoryLinkInline,
    MemoryLinkInline,
    MemoryOriginInline,
    MemoryVectorInline,
    MemoryVersionInline,
)
from apps.console.labels import count_of, label
from apps.memories.models import Memory
from apps.pipeline.core.enums import Status
from apps.pipeline.core.identifiers import Prefix


@admin.register(Memory)
class MemoryAdmin(ReadOnlyAdmin):
    """Memories; changes go through actions, so that history and ledger record them."""

    console_page = "memory"
    prefix = Prefix.MEMORY
    list_display = (
        "content",
        "type",
        chip_column("status"),
        meter_column("confidence"),
        "predicate",
        "end_user",
        "project",
        "created_at",
    )
    list_filter = ("status", "type", "project")
    list_select_related = ("end_user", "project")
    search_fields = ("content", "predicate", "end_user__external_id")
    search_help_text = "an identifier, words of the memory, a predicate or a user"
    date_hierarchy = "created_at"
    actions = ("approve", "reject", "retract")
    inlines = (MemoryOriginInline, MemoryLinkInline, IncomingMemoryLinkInline, MemoryVersionInline, MemoryVectorInline)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    "content",
                    identifier_column(Prefix.MEMORY),
                    chip_column("status"),
                    "review_reasons",
                    "type",
                    "tags",
                    "topic",
                )
            },
        ),
        (
            "Details",
            {"fields": ("subject", "predicate", json_column("object"), "polarity", "stateful", "language")},
        ),
        (
            "Confidence",
            {
                "fields": (
                    meter_column("confidence"),
                    "sum",
                    "source_confidence",
                    "grounding",
                    "speech_act",
                    "recurrence",
                )
            },
        ),
        ("When", {"fields": ("said_at", "valid_from", "valid_until", "superseded_by", "event", "expires_at")}),
        (
            "Origin",
            {
                "fields": (
                    "end_user",
                    "project",
                    "session",
                    "trace",
                    identifier_column(Prefix.API_KEY, "api_key_id", "key"),
                    "role",
                    "extractor",
                    "agent_id",
                    "app_id",
                    "run_id",
                    "private_to",
                    json_column("metadata"),
                    json_column("further_sources"),
                )
            },
        ),
        (
            "Use",
            {
                "fields": (
                    "importance",
                    "access_count",
                    "first_accessed",
                    "last_accessed",
                    "version",
                    "created_at",
                    "updated_at",
                )
            },
        ),
    )
    readonly_fields = fields_of(fieldsets)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Memory]:
        """Don't load the columns that only search needs."""
        memories: QuerySet[Memory] = super().get_queryset(request)
        joined = memories.select_related("end_user", "project", "subject", "session", "trace", "superseded_by")
        heavy = ("terms", "context_terms", "context")
        return joined.defer(*heavy, *(f"superseded_by__{field}" for field in heavy), "trace__plan")

    @admin.display(description="parts")
    def sum(self, memory: Memory) -> SafeString | str:
        """Show the parts of the confidence."""
        parts = {label(name): part for name, part in memory.confidence_parts.items() if part is not None}
        return pairs_table(parts)

    @admin.display(description="happened")
    def event(self, memory: Memory) -> str:
        """Show when it happened and with which precision."""
        return f"{memory.event_at:%Y-%m-%d %H:%M} (precision: {memory.event_precision})" if memory.event_at else ""

    def has_review_permission(self, request: HttpRequest) -> bool:
        """Allow review for users with the permission to change memories."""
        return bool(request.user.has_perm("memories.change_memory"))

    @admin.action(description="Approve: agents can use them", permissions=["review"])
    def approve(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        """Make memories active."""
        self._each(request, queryset, lambda memory: _set_status(memory, Status.ACTIVE, request.user.pk))

    @admin.action(description="Reject: should not have been stored", permissions=["review"])
    def reject(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        """Reject pending memories."""
        self._each(request, queryset, lambda memory: _set_status(memory, Status.REJECTED, request.user.pk))

    @admin.action(description="Retract: no longer returned to agents", permissions=["review"])
    def retract(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        """Retract memories; nothing is deleted."""
        person = request.user.pk
        self._each(
            request,
            queryset,
            lambda memory: retract(project_id=memory.project_id, memory_id=memory.pk, person_id=person),
        )

    def _each(self, request: HttpRequest, memories: QuerySet[Memory], do: Callable[[Memory], Any]) -> None:
        done = 0
        for memory in memories:
            try:
                do(memory)
                done += 1
            except Refused as refused:
                self.message_user(request, f"“{memory}”: {refused}.", messages.ERROR)
        if done:
            self.message_user(request, f"{count_of(done, 'memory', 'memories')} changed.", messages.SUCCESS)


def _set_status(memory: Memory, status: Status, person_id: int | None) -> None:
    revise(
        revision=Revision(
            project_id=memory.project_id,
            memory_id=memory.pk,
            changes={"status": status},
            person_id=person_id,
            may_review=True,
        )
    )
