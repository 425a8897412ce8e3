"""Admin of alerts, their recipients and messages."""

from django.contrib import admin

from apps.alerts.models import Alert, AlertDelivery, AlertRecipients
from apps.console.admin.base import ReadOnlyAdmin
from apps.console.admin.cells import chip_column, identifier_column, json_column, truncated_column
from apps.pipeline.core.identifiers import Prefix


@admin.register(Alert)
class AlertAdmin(ReadOnlyAdmin):
    """Alerts; acknowledged in the console."""

    prefix = Prefix.ALERT
    list_display = (identifier_column(Prefix.ALERT), chip_column("state"), "kind", "subject", "opened_at", "project")
    list_filter = ("state", "kind", "project")
    list_select_related = ("project",)
    date_hierarchy = "opened_at"
    fields = (
        *("project", "kind", "subject", "state", "cause", "cost", json_column("figures"), json_column("consequences")),
        *("window_hours", "opened_at", "last_seen_at", "acknowledged_at", "acknowledged_by", "note", "resolved_at"),
    )
    readonly_fields = fields


@admin.register(AlertRecipients)
class AlertRecipientsAdmin(ReadOnlyAdmin):
    """Who is told about alerts; the secret of the webhook is not shown."""

    list_display = ("project", "webhook_url", "changed_at")
    list_select_related = ("project",)
    fields = ("project", "webhook_url", "mail_addresses", "changed_at")
    readonly_fields = fields


@admin.register(AlertDelivery)
class AlertDeliveryAdmin(ReadOnlyAdmin):
    """Messages about alerts."""

    list_display = (
        *("alert", "event", "channel", chip_column("state"), "attempts", "created_at"),
        *(truncated_column("last_error", 80), "project"),
    )
    list_filter = ("state", "channel", "project")
    list_select_related = ("alert", "project")
    fields = (
        *("project", "alert", "event", "channel", "recipient", "state", "attempts", "next_try_at", "last_error"),
        *("created_at", "finished_at"),
    )
    readonly_fields = fields
