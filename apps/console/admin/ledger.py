"""Admin of the ledger."""

from django.contrib import admin

from apps.console.admin.base import ReadOnlyAdmin, UserApartAdmin
from apps.console.admin.cells import identifier_column, json_column
from apps.memories.models import LedgerCheckpoint, LedgerEntry
from apps.pipeline.core.identifiers import Prefix


@admin.register(LedgerEntry)
class LedgerEntryAdmin(UserApartAdmin):
    """The audit log; the database rejects changes to it."""

    prefix = Prefix.LEDGER_ENTRY
    list_display = ("verb", "object_kind", "object_id", "actor", "end_user", "project", "created_at")
    list_filter = ("verb", "object_kind", "project")
    list_select_related = ("project",)
    search_fields = ("actor", "object_id")
    date_hierarchy = "created_at"
    fields = (
        identifier_column(Prefix.LEDGER_ENTRY),
        "verb",
        "object_kind",
        "object_id",
        "actor",
        identifier_column(Prefix.TRACE, "trace_id", "trace"),
        json_column("details"),
        "end_user",
        "project",
        "created_at",
    )
    readonly_fields = fields


@admin.register(LedgerCheckpoint)
class LedgerCheckpointAdmin(ReadOnlyAdmin):
    """Where the chain of a project begins after its oldest entries were removed."""

    list_display = ("project", "number", "hash", "created_at")
    list_filter = ("project",)
    list_select_related = ("project",)
    fields = ("project", "number", "hash", "created_at")
    readonly_fields = fields
