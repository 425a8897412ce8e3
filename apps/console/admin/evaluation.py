"""Admin of evaluation, read-only: samples are drawn and labelled in the console."""

from django.contrib import admin

from apps.console.admin.base import ReadOnlyAdmin
from apps.console.admin.cells import identifier_column, json_column
from apps.memories.models import EvaluationItem, EvaluationLabel, EvaluationSample
from apps.pipeline.core.identifiers import Prefix


@admin.register(EvaluationSample)
class EvaluationSampleAdmin(ReadOnlyAdmin):
    """Samples, newest first."""

    prefix = Prefix.EVALUATION_SAMPLE
    list_display = (identifier_column(Prefix.EVALUATION_SAMPLE), "project", "kind", "week", "population", "actor")
    list_filter = ("kind", "project")
    list_select_related = ("project",)
    fields = (
        *("project", "kind", "week", "since", "until", "seed", "population", json_column("counts"), "actor"),
        "created_at",
    )
    readonly_fields = fields


@admin.register(EvaluationItem)
class EvaluationItemAdmin(ReadOnlyAdmin):
    """Memories and turns of samples."""

    prefix = Prefix.EVALUATION_ITEM
    list_display = ("__str__", "end_user", "sample", "position", "memory_type", "model", "version")
    list_filter = ("memory_type",)
    list_select_related = ("end_user", "sample")
    fields = ("sample", "position", "end_user", "memory", "turn", "memory_type", "model", "version")
    readonly_fields = fields


@admin.register(EvaluationLabel)
class EvaluationLabelAdmin(ReadOnlyAdmin):
    """Labels of items."""

    list_display = ("__str__", "end_user", "labeller", "value", "created_at")
    list_filter = ("value",)
    list_select_related = ("end_user",)
    fields = ("item", "end_user", "labeller", "value", "remembered_id", "created_at")
    readonly_fields = fields
