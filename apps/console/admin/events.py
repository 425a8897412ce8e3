"""Admin of events, webhooks and their deliveries."""

from django.contrib import admin

from apps.console.admin.base import ReadOnlyAdmin, UserApartAdmin
from apps.console.admin.cells import chip_column, identifier_column, json_column, truncated_column
from apps.events.models import EventLog, ProjectEvent, Webhook, WebhookDelivery
from apps.pipeline.core.identifiers import Prefix


@admin.register(EventLog)
class EventLogAdmin(ReadOnlyAdmin):
    """Whether the events of projects are recorded."""

    list_display = ("project", "is_on", "last_number", "changed_at")
    list_select_related = ("project",)
    fields = ("project", "is_on", "last_number", "changed_at")
    readonly_fields = fields


@admin.register(ProjectEvent)
class ProjectEventAdmin(UserApartAdmin):
    """Events of projects."""

    list_display = ("number", "type", "end_user", "created_at", "project")
    list_filter = ("type", "project")
    list_select_related = ("project",)
    fields = (
        *("project", "event_id", "number", "type", "end_user", "trace_id", "memory_id", json_column("details")),
        "created_at",
    )
    readonly_fields = fields


@admin.register(Webhook)
class WebhookAdmin(ReadOnlyAdmin):
    """Webhooks; changed in the console. Their secrets are not shown."""

    prefix = Prefix.WEBHOOK
    list_display = (identifier_column(Prefix.WEBHOOK), "name", "url", "paused_at", "failing_since", "project")
    list_filter = ("project",)
    list_select_related = ("project",)
    fields = (
        *("project", "name", "url", "event_types", "includes_content", "created_at", "created_by", "paused_at"),
        *("paused_by", "pause_reason", "failing_since", "failures", "resume_at", "former_secret_until"),
    )
    readonly_fields = fields


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(ReadOnlyAdmin):
    """Deliveries of events."""

    prefix = Prefix.WEBHOOK_DELIVERY
    list_display = (
        *(identifier_column(Prefix.WEBHOOK_DELIVERY), "webhook", "event_type", chip_column("state"), "attempts"),
        *("response_status", truncated_column("last_error", 80), "created_at", "project"),
    )
    list_filter = ("state", "event_type", "project")
    list_select_related = ("webhook", "project")
    fields = (
        *("project", "webhook", "event", "event_type", "number", "end_user", "state", "attempts", "next_try_at"),
        *("give_up_at", "response_status", "duration_ms", "last_error", "created_at", "finished_at"),
    )
    readonly_fields = fields
