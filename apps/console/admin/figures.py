"""What the dashboard and the previews are made of."""

from django.contrib import admin

from apps.console.admin.cells import as_json, chipped
from apps.console.admin.pages import ReadOnlyPage
from apps.traces.models import HourlyLatency, HourlyTally, RulePreview, TalliedHour


@admin.register(HourlyTally)
class HourlyTallyPage(ReadOnlyPage):
    """How much of what a project had within an hour."""

    list_display = ("hour", "project", "measure", "stage", "reason", "amount")
    list_filter = ("measure", "stage", "project")
    list_select_related = ("project",)
    search_fields = ("reason",)
    date_hierarchy = "hour"


@admin.register(HourlyLatency)
class HourlyLatencyPage(ReadOnlyPage):
    """How many spans of a stage took so long within an hour."""

    list_display = ("hour", "project", "stage", "bucket", "spans")
    list_filter = ("stage", "project")
    list_select_related = ("project",)
    date_hierarchy = "hour"


@admin.register(TalliedHour)
class TalliedHourPage(ReadOnlyPage):
    """Which hours have been added up."""

    list_display = ("hour", "tallied_at")


@admin.register(RulePreview)
class RulePreviewPage(ReadOnlyPage):
    """What rules would have done."""

    list_display = ("__str__", "project", chipped("state"), "turns_done", "newly_dropped", "harmful", "created_at")
    list_filter = ("state", "project")
    list_select_related = ("project",)
    fields = (
        *("project", "person", as_json("rule"), "days", chipped("state"), "turns_total", "turns_done"),
        *("newly_dropped", "newly_kept", "harmful", "memories_lost", as_json("examples"), "error"),
        *("created_at", "finished_at"),
    )
    readonly_fields = fields
