"""Traces with their spans, turns and model calls; sessions; configuration versions and pre-filter rules."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from apps.actions.rules.delete_rule import delete_rule
from apps.actions.rules.save_rule import save_rule
from apps.console.admin.cells import as_json, chipped, columns_of, link_to_list, links, shortened, shown, table_of, took
from apps.console.admin.pages import Page, ReadOnlyPage, ReadOnlyRows, fields_of
from apps.console.admin.rule_form import RuleForm
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


class SpanRows(ReadOnlyRows):
    """The stages of a trace."""

    model = Span
    fields = ("stage", chipped("result"), "reason", took(), as_json("details"))
    ordering = ("position",)


class TurnRows(ReadOnlyRows):
    """What was said, and what pre_filter said of it."""

    model = Turn
    fields = ("position", "role", "content", "rejected_for", "rejected_by", "speaker", "occurred_at")
    ordering = ("position",)


class ModelCallRows(ReadOnlyRows):
    """What a model was asked, and what it cost."""

    model = ModelCall
    fields = ("purpose", "model", "input_tokens", "cache_read_tokens", "output_tokens", took(), "cost_usd", "error")
    ordering = ("created_at",)


@admin.register(Trace)
class TracePage(ReadOnlyPage):
    """Runs of the write pipeline."""

    prefix = Prefix.TRACE
    list_display = (shown(Prefix.TRACE), chipped("status"), "end_user", "session", "funnel", "created_at", "project")
    list_filter = ("status", "project")
    list_select_related = ("end_user", "session", "project")
    search_fields = ("end_user__external_id", "session__external_id")
    search_help_text = "a trace's identifier, a user or a session"
    date_hierarchy = "created_at"
    inlines = (TurnRows, SpanRows, ModelCallRows)
    fieldsets = (
        (None, {"fields": (shown(Prefix.TRACE), chipped("status"), "end_user", "session", "project", "configuration")}),
        ("Outcome", {"fields": ("sums", "wrote", "fates", "error")}),
        ("When", {"fields": ("created_at", "finished_at")}),
        ("Request", {"fields": (shown(Prefix.API_KEY, "api_key_id", "key"), "topic", as_json("metadata"))}),
        ("Plan", {"classes": ("collapse",), "fields": (as_json("plan"),)}),
    )
    readonly_fields = fields_of(fieldsets)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Trace]:
        """Leave the plan to the page of one trace."""
        traces: QuerySet[Trace] = super().get_queryset(request)
        return traces.select_related("end_user", "session", "project", "configuration").defer("configuration__policy")

    @admin.display(description="outcome")
    def funnel(self, trace: Trace) -> str:
        """Say what came out, in one line."""
        return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in _sums(trace).items() if count)

    @admin.display(description="counts")
    def sums(self, trace: Trace) -> SafeString | str:
        """Show the counts one below the other."""
        return table_of({name.replace("_", " "): count for name, count in _sums(trace).items()})

    @admin.display(description="of each turn and candidate")
    def fates(self, trace: Trace) -> SafeString | str:
        """Show what became of each candidate, and of turns that yielded none."""
        return columns_of(
            trace.outcomes, outcome="outcome", stage="stage", reason="reason", content="candidate", turn="turn"
        )

    @admin.display(description="memories")
    def wrote(self, trace: Trace) -> SafeString:
        """Link to the memories that the trace wrote."""
        return link_to_list("memories_memory", "what it wrote", end_user=trace.end_user_id, trace=trace.pk)


def _sums(trace: Trace) -> dict[str, int]:
    return {name: count for name, count in trace.counts.items() if isinstance(count, int)}


@admin.register(Session)
class SessionPage(ReadOnlyPage):
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
        shown(Prefix.SESSION),
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
        """Link to what was said, and to what became of it."""
        whose = {"end_user": session.end_user_id, "session": session.pk}
        return links(link_to_list("traces_turn", "turns", **whose), link_to_list("traces_trace", "traces", **whose))


@admin.register(Turn)
class TurnPage(ReadOnlyPage):
    """Messages as they were accepted."""

    prefix = Prefix.TURN
    list_display = (shortened("content"), "role", "speaker", "rejected_for", "end_user", "session", "received_at")
    list_filter = ("role", ("rejected_for", admin.EmptyFieldListFilter))
    list_select_related = ("end_user", "session")
    search_fields = ("content", "external_id", "end_user__external_id")
    search_help_text = "an identifier, words of the turn, or a user"
    date_hierarchy = "received_at"


@admin.register(Span)
class SpanPage(ReadOnlyPage):
    """Stages of all traces."""

    list_display = ("stage", chipped("result"), "reason", took(), "end_user", "trace", "created_at")
    list_filter = ("stage", "result")
    list_select_related = ("end_user", "trace")
    search_fields = ("reason", "end_user__external_id")
    fields = ("stage", chipped("result"), "reason", took(), as_json("details"), "end_user", "trace", "created_at")
    readonly_fields = fields


@admin.register(ModelCall)
class ModelCallPage(ReadOnlyPage):
    """Calls of models, with tokens and cost."""

    list_display = (
        "purpose",
        "model",
        "prompt_version",
        "input_tokens",
        "cache_read_tokens",
        "output_tokens",
        took(),
        "cost_usd",
        "answer_kind",
        shortened("error", 60),
        "trace",
        "created_at",
    )
    list_filter = ("purpose", "model", "answer_kind", ("error", admin.EmptyFieldListFilter))
    list_select_related = ("trace",)
    search_fields = ("request_hash", "model", "error")
    date_hierarchy = "created_at"


@admin.register(ConfigurationVersion)
class ConfigurationVersionPage(ReadOnlyPage):
    """Versions of the settings that traces run under; saving a rule makes the next one."""

    prefix = Prefix.CONFIGURATION
    list_display = ("__str__", "project", "is_active", "note", "created_at")
    list_filter = ("is_active", "project")
    list_select_related = ("project",)
    search_fields = ("note", "project__name")
    date_hierarchy = "created_at"
    fields = ("number", "project", "is_active", "note", "created_at", as_json("policy"))
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[ConfigurationVersion]:
        """Leave the policy to the page of one version: it holds every rule."""
        versions: QuerySet[ConfigurationVersion] = super().get_queryset(request)
        return versions.defer("policy")


@admin.register(PreFilterRule)
class PreFilterRulePage(Page):
    """Rules of stage 1; each save makes a new configuration version."""

    form = RuleForm
    list_display = ("name", "project", "enabled", "reason", shortened("pattern", 60), "phrase", "order", "hit_count")
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
        """Keep project and name: under another name it would be another rule."""
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
        """Delete rules one by one, so that each change can be told apart."""
        for rule in queryset:
            delete_rule(project_id=rule.project_id, name=rule.name)


@admin.register(IdempotentRequest)
class IdempotentRequestPage(ReadOnlyPage):
    """Requests that came with an Idempotency-Key, and what was answered."""

    list_display = ("key", "project", "answer_status", "created_at")
    list_filter = (("answer_status", admin.EmptyFieldListFilter), "project")
    list_select_related = ("project",)
    search_fields = ("key",)
    date_hierarchy = "created_at"
    fields = ("key", "project", "fingerprint", "answer_status", as_json("answer"), "created_at")
    readonly_fields = fields
