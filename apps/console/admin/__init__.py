"""The Django admin of all tables, one module per area."""

from django.contrib import admin

from apps.console.admin import entities, ledger, memories, memory_details, outbox, statistics, tenants, traces

__all__ = ["entities", "ledger", "memories", "memory_details", "outbox", "statistics", "tenants", "traces"]

admin.site.site_header = "memplatform"
admin.site.site_title = "memplatform"
admin.site.index_title = "All tables"
