"""Admin of sessions and turns."""

from django.contrib import admin
from django.utils.safestring import SafeString

from apps.console.admin.base import ReadOnlyAdmin
from apps.console.admin.cells import changelist_link, identifier_column, links, truncated_column
from apps.pipeline.core.identifiers import Prefix
from apps.traces.models import Session, Turn


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
