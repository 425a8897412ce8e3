"""Admin of rollbacks and their parts by end user, read-only: the page of the console starts and undoes them."""

from django.contrib import admin

from apps.console.admin.base import ReadOnlyAdmin
from apps.console.admin.cells import json_column
from apps.memories.models import EntityChange, Rollback, RollbackItem
from apps.pipeline.core.identifiers import Prefix


@admin.register(Rollback)
class RollbackAdmin(ReadOnlyAdmin):
    """Rollbacks, newest first."""

    console_page = "rollback"
    prefix = Prefix.ROLLBACK
    list_display = ("__str__", "project", "state", "actor", "note", "created_at", "undone_by")
    list_filter = ("state", "project")
    list_select_related = ("project",)
    search_fields = ("note", "actor")
    fields = (
        "project",
        "state",
        json_column("selection"),
        json_column("forced"),
        "rerun",
        "note",
        json_column("counts"),
        "actor",
        "created_at",
        "finished_at",
        "undone_by",
        "undone_at",
    )
    readonly_fields = fields


@admin.register(RollbackItem)
class RollbackItemAdmin(ReadOnlyAdmin):
    """What a rollback did for one end user."""

    list_display = ("__str__", "end_user", "rollback", "state", "finished_at")
    list_filter = ("state",)
    list_select_related = ("end_user", "rollback")
    fields = ("end_user", "rollback", "state", json_column("done"), json_column("left_alone"), "error", "finished_at")
    readonly_fields = fields


@admin.register(EntityChange)
class EntityChangeAdmin(ReadOnlyAdmin):
    """What traces did to the names of entities."""

    list_display = ("__str__", "end_user", "entity", "kind", "alias", "former", "withdrawn", "created_at")
    list_filter = ("kind", "withdrawn")
    list_select_related = ("end_user", "entity")
    search_fields = ("alias", "former")
    fields = ("end_user", "entity", "trace_id", "kind", "alias", "folded", "former", "uses", "withdrawn", "created_at")
    readonly_fields = fields
