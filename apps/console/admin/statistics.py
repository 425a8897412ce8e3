"""Admin of hourly statistics and rule previews."""

from django.contrib import admin

from apps.console.admin.base import ReadOnlyAdmin
from apps.console.admin.cells import chip_column, json_column
from apps.traces.models import HourlyLatency, HourlyTally, RulePreview, TalliedHour


@admin.register(HourlyTally)
class HourlyTallyAdmin(ReadOnlyAdmin):
    """Hourly counts of each project."""

    list_display = ("hour", "project", "measure", "stage", "reason", "amount")
    list_filter = ("measure", "stage", "project")
    list_select_related = ("project",)
    search_fields = ("reason",)
    date_hierarchy = "hour"


@admin.register(HourlyLatency)
class HourlyLatencyAdmin(ReadOnlyAdmin):
    """Hourly latency histograms of each stage."""

    list_display = ("hour", "project", "stage", "bucket", "spans")
    list_filter = ("stage", "project")
    list_select_related = ("project",)
    date_hierarchy = "hour"


@admin.register(TalliedHour)
class TalliedHourAdmin(ReadOnlyAdmin):
    """The hours that have been aggregated."""

    list_display = ("hour", "tallied_at", "counted_until")


@admin.register(RulePreview)
class RulePreviewAdmin(ReadOnlyAdmin):
    """Previews of rules on stored turns."""

    list_display = ("__str__", "project", chip_column("state"), "turns_done", "newly_dropped", "harmful", "created_at")
    list_filter = ("state", "project")
    list_select_related = ("project",)
    fields = (
        *("project", "person", json_column("rule"), "days", chip_column("state"), "turns_total", "turns_done"),
        *("newly_dropped", "newly_kept", "harmful", "memories_lost", json_column("examples"), "error"),
        *("created_at", "finished_at"),
    )
    readonly_fields = fields
