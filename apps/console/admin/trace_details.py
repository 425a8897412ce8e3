"""Admin of the stages and model calls of all traces."""

from django.contrib import admin

from apps.console.admin.base import ReadOnlyAdmin
from apps.console.admin.cells import chip_column, json_column, latency_column, truncated_column
from apps.traces.models import ModelCall, ModelTestCall, Span


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


@admin.register(ModelTestCall)
class ModelTestCallAdmin(ReadOnlyAdmin):
    """Test calls of models."""

    list_display = ("model", latency_column(), "cost_usd", truncated_column("error", 60), "project", "created_at")
    list_filter = ("model", "project")
    list_select_related = ("project",)
    fields = ("model", "project", "input_tokens", "output_tokens", latency_column(), "cost_usd", "error", "created_at")
    readonly_fields = fields
