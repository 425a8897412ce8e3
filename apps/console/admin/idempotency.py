"""Admin of requests with an Idempotency-Key."""

from django.contrib import admin

from apps.console.admin.base import ReadOnlyAdmin
from apps.console.admin.cells import json_column
from apps.traces.models import IdempotentRequest


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
