"""Admin of replays and their traces."""

from django.contrib import admin

from apps.console.admin.base import ReadOnlyAdmin
from apps.console.admin.cells import chip_column, identifier_column, json_column
from apps.pipeline.core.identifiers import Prefix
from apps.traces.models import Replay, ReplayedTrace


@admin.register(Replay)
class ReplayAdmin(ReadOnlyAdmin):
    """Replays of traces under a configuration version; started, cancelled and resumed in the console."""

    console_page = "replay"
    prefix = Prefix.REPLAY
    list_display = (identifier_column(Prefix.REPLAY), chip_column("state"), "traces_done", "created_at", "project")
    list_filter = ("state", "project")
    list_select_related = ("project",)
    date_hierarchy = "created_at"
    fields = (
        *("project", "person", "configuration", "is_isolated", "allows_live_calls", "state", "traces_total"),
        *("traces_done", json_column("choice"), json_column("estimate"), json_column("totals"), "error"),
        *("created_at", "started_at", "finished_at"),
    )
    readonly_fields = fields


@admin.register(ReplayedTrace)
class ReplayedTraceAdmin(ReadOnlyAdmin):
    """Traces of replays, with the differences to what they have written."""

    list_display = ("trace", chip_column("state"), "end_user", "replay")
    list_filter = ("state",)
    list_select_related = ("trace", "end_user", "replay")
    fields = ("replay", "end_user", "trace", "position", "state", json_column("diff"), json_column("totals"), "error")
    readonly_fields = fields
