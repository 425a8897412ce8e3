"""Admin of items."""

from django.contrib import admin

from apps.console.admin.base import ReadOnlyAdmin
from apps.console.admin.cells import json_column
from apps.items.models import StoredItem


@admin.register(StoredItem)
class StoredItemAdmin(ReadOnlyAdmin):
    """Items that callers have stored."""

    list_display = ("key", "namespace", "project", "version", "updated_at", "expires_at")
    list_filter = ("project",)
    list_select_related = ("project",)
    search_fields = ("key",)
    date_hierarchy = "updated_at"
    fields = (
        *("project", "namespace", "key", json_column("value"), "end_user", "version", "ttl_minutes", "expires_at"),
        *("created_at", "updated_at"),
    )
    readonly_fields = fields
