"""Admin of traces, sessions, configuration versions and pre-filter rules."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from apps.actions.rules.delete_rule import delete_rule
from apps.actions.rules.save_rule import save_rule
from apps.console.admin.base import BaseAdmin, ReadOnlyAdmin, ReadOnlyInline, fields_of
from apps.console.admin.cells import (
    changelist_link,
    chip_column,
    identifier_column,
    json_column,
    latency_column,
    links,
    pairs_table,
    rows_table,
    truncated_column,
)
from apps.console.admin.rule_form import PreFilterRuleForm
from apps.console.labels import label
from apps.pipeline.core.identifiers import Prefix
from apps.traces.models import (
    ConfigurationVersion,
    IdempotentRequest,
    ModelCall,
    PreFilterRule,
    Session,
    Span,
    Trace,
    Turn,
)


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
            {"fields": (identifier_column(Prefix.API_KEY, "api_key_id", "key"), "topic", json_column("metadata"))},
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


@admin.register(Session)
class SessionAdmin(ReadOnlyAdmin):
    """Conversations."""

    prefix = Prefix.SESSION
    list_display = ("external_id", "end_user", "project", "turn_count", "started_at", "last_turn_at", "ended_at")
    list_filter = ("project",)
    list_select_related = ("end_user", "project")
    search_fields = ("external_id", "end_user__external_id")
    ordering = ("-last_turn_at",)
    date_hierarchy = "last_turn_at"
    fields = (
        "external_id",
        identifier_column(Prefix.SESSION),
        "end_user",
        "project",
        "turn_count",
        "summarised_until",
        "started_at",
        "last_turn_at",
        "ended_at",
        "more",
    )
    readonly_fields = fields

    @admin.display(description="")
    def more(self, session: Session) -> SafeString:
        """Link to the turns and traces of the session."""
        whose = {"end_user": session.end_user_id, "session": session.pk}
        return links(
            changelist_link("traces_turn", "turns", **whose), changelist_link("traces_trace", "traces", **whose)
        )


@admin.register(Turn)
class TurnAdmin(ReadOnlyAdmin):
    """Messages as accepted."""

    prefix = Prefix.TURN
    list_display = (
        truncated_column("content"),
        "role",
        "speaker",
        "rejected_for",
        "end_user",
        "session",
        "received_at",
    )
    list_filter = ("role", ("rejected_for", admin.EmptyFieldListFilter))
    list_select_related = ("end_user", "session")
    search_fields = ("content", "external_id", "end_user__external_id")
    search_help_text = "an identifier, words of the turn, or a user"
    date_hierarchy = "received_at"


@admin.register(Span)
class SpanAdmin(ReadOnlyAdmin):
    """Stages of all traces."""

    list_display = ("stage", chip_column("result"), "reason", latency_column(), "end_user", "trace", "created_at")
    list_filter = ("stage", "result")
    list_select_related = ("end_user", "trace")
    search_fields = ("reason", "end_user__external_id")
    fields = (
        "stage",
        chip_column("result"),
        "reason",
        latency_column(),
        json_column("details"),
        "end_user",
        "trace",
        "created_at",
    )
    readonly_fields = fields


@admin.register(ModelCall)
class ModelCallAdmin(ReadOnlyAdmin):
    """Calls of models, with tokens and cost."""

    list_display = (
        "purpose",
        "model",
        "prompt_version",
        "input_tokens",
        "cache_read_tokens",
        "output_tokens",
        latency_column(),
        "cost_usd",
        "answer_kind",
        truncated_column("error", 60),
        "trace",
        "created_at",
    )
    list_filter = ("purpose", "model", "answer_kind", ("error", admin.EmptyFieldListFilter))
    list_select_related = ("trace",)
    search_fields = ("request_hash", "model", "error")
    date_hierarchy = "created_at"


@admin.register(ConfigurationVersion)
class ConfigurationVersionAdmin(ReadOnlyAdmin):
    """Versions of the settings; saving a rule creates the next version."""

    prefix = Prefix.CONFIGURATION
    list_display = ("__str__", "project", "is_active", "note", "created_at")
    list_filter = ("is_active", "project")
    list_select_related = ("project",)
    search_fields = ("note", "project__name")
    date_hierarchy = "created_at"
    fields = ("number", "project", "is_active", "note", "created_at", json_column("policy"))
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[ConfigurationVersion]:
        """Don't load the policy, which contains every rule."""
        versions: QuerySet[ConfigurationVersion] = super().get_queryset(request)
        return versions.defer("policy")


@admin.register(PreFilterRule)
class PreFilterRuleAdmin(BaseAdmin):
    """Pre-filter rules; each save creates a configuration version."""

    form = PreFilterRuleForm
    list_display = (
        "name",
        "project",
        "enabled",
        "reason",
        truncated_column("pattern", 60),
        "phrase",
        "order",
        "hit_count",
    )
    list_filter = ("enabled", "reason", "phrase", "project")
    list_select_related = ("project",)
    search_fields = ("name", "pattern")
    ordering = ("project", "order", "name")
    fieldsets = (
        (None, {"fields": ("project", "name", "reason", "enabled", "order")}),
        ("What it drops", {"fields": ("pattern", "phrase", "unless_answering", "roles", "languages")}),
        ("Use", {"fields": ("hit_count", "last_hit_at")}),
    )

    def get_readonly_fields(self, request: HttpRequest, obj: PreFilterRule | None = None) -> Any:
        """Make project and name read-only: they identify the rule."""
        counted = ("hit_count", "last_hit_at")
        return ("project", "name", *counted) if obj else counted

    def save_model(self, request: HttpRequest, obj: PreFilterRule, form: forms.ModelForm, change: bool) -> None:
        """Save the rule in a new configuration version."""
        save_rule(project_id=obj.project_id, rule=obj.as_rule())
        obj.pk = PreFilterRule.objects.values_list("pk", flat=True).get(project_id=obj.project_id, name=obj.name)

    def delete_model(self, request: HttpRequest, obj: PreFilterRule) -> None:
        """Delete the rule in a new configuration version."""
        delete_rule(project_id=obj.project_id, name=obj.name)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[PreFilterRule]) -> None:
        """Delete rules one by one, so that each deletion has its own version."""
        for rule in queryset:
            delete_rule(project_id=rule.project_id, name=rule.name)


@admin.register(IdempotentRequest)
class IdempotentRequestAdmin(ReadOnlyAdmin):
    """Requests with an Idempotency-Key and their responses."""

    list_display = ("key", "project", "answer_status", "created_at")
    list_filter = (("answer_status", admin.EmptyFieldListFilter), "project")
    list_select_related = ("project",)
    search_fields = ("key",)
    date_hierarchy = "created_at"
    fields = ("key", "project", "fingerprint", "answer_status", json_column("answer"), "created_at")
    readonly_fields = fields
