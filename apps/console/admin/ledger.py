"""The ledger."""

from django.contrib import admin

from apps.console.admin.cells import as_json, shown
from apps.console.admin.pages import ReadOnlyPage
from apps.memories.models import LedgerEntry
from apps.pipeline.core.identifiers import Prefix


@admin.register(LedgerEntry)
class LedgerEntryPage(ReadOnlyPage):
    """What was done, by whom; the database refuses to change it."""

    prefix = Prefix.LEDGER_ENTRY
    list_display = ("verb", "object_kind", "object_id", "actor", "end_user", "project", "created_at")
    list_filter = ("verb", "object_kind", "project")
    list_select_related = ("end_user", "project")
    search_fields = ("actor", "object_id", "end_user__external_id")
    date_hierarchy = "created_at"
    fields = (
        shown(Prefix.LEDGER_ENTRY),
        "verb",
        "object_kind",
        "object_id",
        "actor",
        shown(Prefix.TRACE, "trace_id", "trace"),
        as_json("details"),
        "end_user",
        "project",
        "created_at",
    )
    readonly_fields = fields
