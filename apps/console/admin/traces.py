"""Admin of traces with their turns, stages and model calls."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from apps.console.admin.base import ReadOnlyAdmin, ReadOnlyInline, fields_of
from apps.console.admin.cells import (
    changelist_link,
    chip_column,
    identifier_column,
    json_column,
    latency_column,
    pairs_table,
    rows_table,
)
from apps.console.labels import label
from apps.pipeline.core.identifiers import Prefix
from apps.traces.models import ModelCall, Span, Trace, Turn


class SpanInline(ReadOnlyInline):
    """The stages of a trace."""

    model = Span
    fields = ("stage", chip_column("result"), "reason", latency_column(), json_column("details"))
    ordering = ("position",)


class TurnInline(ReadOnlyInline):
    """The turns of a trace, with the result of the pre-filter."""

    model = Turn
    fields = ("position", "role", "content", "rejected_for", "rejected_by", "speaker", "occurred_at")
    ordering = ("position",)


class ModelCallInline(ReadOnlyInline):
    """The model calls of a trace and their cost."""

    model = ModelCall
    fields = (
        "purpose",
        "model",
        "input_tokens",
        "cache_read_tokens",
        "output_tokens",
        latency_column(),
        "cost_usd",
        "error",
    )
    ordering = ("created_at",)


@admin.register(Trace)
class TraceAdmin(ReadOnlyAdmin):
    """Runs of the write pipeline."""

    console_page = "trace"
    prefix = Prefix.TRACE
    list_display = (
        identifier_column(Prefix.TRACE),
        chip_column("status"),
        "end_user",
        "session",
        "funnel",
        "created_at",
        "project",
    )
    list_filter = ("status", "project")
    list_select_related = ("end_user", "session", "project")
    search_fields = ("end_user__external_id", "session__external_id")
    search_help_text = "a trace's identifier, a user or a session"
    date_hierarchy = "created_at"
    inlines = (TurnInline, SpanInline, ModelCallInline)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    identifier_column(Prefix.TRACE),
                    chip_column("status"),
                    "end_user",
                    "session",
                    "project",
                    "configuration",
                )
            },
        ),
        ("Outcome", {"fields": ("sums", "written", "outcomes_table", "error")}),
        ("When", {"fields": ("created_at", "finished_at")}),
        (
            "Request",
            {
                "fields": (
                    identifier_column(Prefix.API_KEY, "api_key_id", "key"),
                    "topic",
                    json_column("agent_scope"),
                    json_column("metadata"),
                )
            },
        ),
        ("Plan", {"classes": ("collapse",), "fields": (json_column("plan"),)}),
    )
    readonly_fields = fields_of(fieldsets)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Trace]:
        """Don't load the policy of the configuration."""
        traces: QuerySet[Trace] = super().get_queryset(request)
        return traces.select_related("end_user", "session", "project", "configuration").defer("configuration__policy")

    @admin.display(description="outcome")
    def funnel(self, trace: Trace) -> str:
        """Summarise the outcome in one line."""
        return ", ".join(f"{count} {label(name)}" for name, count in _sums(trace).items() if count)

    @admin.display(description="counts")
    def sums(self, trace: Trace) -> SafeString | str:
        """Show the counts as a table."""
        return pairs_table({label(name): count for name, count in _sums(trace).items()})

    @admin.display(description="by turn and candidate")
    def outcomes_table(self, trace: Trace) -> SafeString | str:
        """Show the outcome of each candidate, and of turns without candidates."""
        return rows_table(
            trace.outcomes, outcome="outcome", stage="stage", reason="reason", content="candidate", turn="turn"
        )

    @admin.display(description="memories")
    def written(self, trace: Trace) -> SafeString:
        """Link to the memories written by the trace."""
        return changelist_link("memories_memory", "memories of this trace", end_user=trace.end_user_id, trace=trace.pk)


def _sums(trace: Trace) -> dict[str, int]:
    return {name: count for name, count in trace.counts.items() if isinstance(count, int)}
