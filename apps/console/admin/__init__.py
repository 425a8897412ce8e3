"""The Django admin of all tables, one module per area."""

from django.contrib import admin

from apps.console.admin import (
    accounts,
    alerts,
    configuration,
    conversations,
    entities,
    evaluation,
    events,
    idempotency,
    imports,
    items,
    ledger,
    memories,
    memory_details,
    outbox,
    replays,
    review,
    rollbacks,
    statistics,
    tenants,
    trace_details,
    traces,
)

__all__ = [
    "accounts",
    "alerts",
    "configuration",
    "conversations",
    "entities",
    "evaluation",
    "events",
    "idempotency",
    "imports",
    "items",
    "ledger",
    "memories",
    "memory_details",
    "outbox",
    "replays",
    "review",
    "rollbacks",
    "statistics",
    "tenants",
    "trace_details",
    "traces",
]

admin.site.site_header = "memplatform"
admin.site.site_url = None  # the header links the console by its name instead
admin.site.site_title = "memplatform"
admin.site.index_title = "All tables"
