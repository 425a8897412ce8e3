"""The admin: every table as a person may look at it; Django finds it here. One module a room."""

from django.contrib import admin

from apps.console.admin import beside_memories, entities, figures, ledger, memories, outbox, tenants, traces

__all__ = ["beside_memories", "entities", "figures", "ledger", "memories", "outbox", "tenants", "traces"]

admin.site.site_header = "memplatform"
admin.site.site_title = "memplatform"
admin.site.index_title = "What is remembered, and why"
