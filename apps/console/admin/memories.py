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
from apps.console.admin.cells import as_json, chipped, metered, shown, table_of
from apps.console.admin.memory_rows import BackLinkRows, LinkRows, OriginRows, VectorRows, VersionRows
from apps.console.admin.pages import ReadOnlyPage, fields_of
from apps.memories.models import Memory
from apps.pipeline.core.enums import Status
from apps.pipeline.core.identifiers import Prefix


@admin.register(Memory)
class MemoryPage(ReadOnlyPage):
    """What is remembered; a change goes through an action, so that the history and the ledger know it."""

    prefix = Prefix.MEMORY
    list_display = (
        "content",
        "type",
        chipped("status"),
        metered("confidence"),
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
    inlines = (OriginRows, LinkRows, BackLinkRows, VersionRows, VectorRows)
    fieldsets = (
        (
            None,
            {"fields": ("content", shown(Prefix.MEMORY), chipped("status"), "review_reasons", "type", "tags", "topic")},
        ),
        ("What it says", {"fields": ("subject", "predicate", as_json("object"), "polarity", "stateful", "language")}),
        (
            "How sure we are",
            {"fields": (metered("confidence"), "sum", "source_confidence", "grounding", "speech_act", "recurrence")},
        ),
        ("When", {"fields": ("said_at", "valid_from", "valid_until", "superseded_by", "event", "expires_at")}),
        (
            "Where it comes from",
            {
                "fields": (
                    "end_user",
                    "project",
                    "session",
                    "trace",
                    shown(Prefix.API_KEY, "api_key_id", "key"),
                    "role",
                    "extractor",
                    as_json("metadata"),
                )
            },
        ),
        ("Use", {"fields": ("importance", "access_count", "last_accessed", "version", "created_at", "updated_at")}),
    )
    readonly_fields = fields_of(fieldsets)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Memory]:
        """Leave out what only a search needs."""
        memories: QuerySet[Memory] = super().get_queryset(request)
        joined = memories.select_related("end_user", "project", "subject", "session", "trace", "superseded_by")
        heavy = ("terms", "context_terms", "context")
        return joined.defer(*heavy, *(f"superseded_by__{field}" for field in heavy), "trace__plan")

    @admin.display(description="the sum")
    def sum(self, memory: Memory) -> SafeString | str:
        """Show the parts that the confidence is the sum of."""
        parts = {name.replace("_", " "): part for name, part in memory.confidence_parts.items() if part is not None}
        return table_of(parts)

    @admin.display(description="happened")
    def event(self, memory: Memory) -> str:
        """Say when it happened, and how exactly that is known."""
        return f"{memory.event_at:%Y-%m-%d %H:%M} (to the {memory.event_precision})" if memory.event_at else ""

    def has_review_permission(self, request: HttpRequest) -> bool:
        """Let those review who could change a memory."""
        return bool(request.user.has_perm("memories.change_memory"))

    @admin.action(description="Approve: agents may be told", permissions=["review"])
    def approve(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        """Make memories active."""
        self._each(request, queryset, lambda memory: _stand(memory, Status.ACTIVE, request.user.pk))

    @admin.action(description="Reject: it should not have been stored", permissions=["review"])
    def reject(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        """Reject memories that wait for a person."""
        self._each(request, queryset, lambda memory: _stand(memory, Status.REJECTED, request.user.pk))

    @admin.action(description="Retract: nobody is told it any more", permissions=["review"])
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
            self.message_user(request, f"{done} done.", messages.SUCCESS)


def _stand(memory: Memory, status: Status, person_id: int | None) -> None:
    revise(
        revision=Revision(
            project_id=memory.project_id,
            memory_id=memory.pk,
            changes={"status": status},
            person_id=person_id,
            may_review=True,
        )
    )
