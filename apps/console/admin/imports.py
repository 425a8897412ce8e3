"""Admin of imports and the parts of their files."""

from django.contrib import admin

from apps.console.admin.base import ReadOnlyAdmin
from apps.console.admin.cells import chip_column, identifier_column, json_column
from apps.imports.models import FileImport, FilePart
from apps.pipeline.core.identifiers import Prefix


@admin.register(FileImport)
class FileImportAdmin(ReadOnlyAdmin):
    """Imports of files; uploaded, checked, started and cancelled in the console."""

    console_page = "import"
    prefix = Prefix.IMPORT
    list_display = (identifier_column(Prefix.IMPORT), chip_column("state"), "format", "created_at", "project")
    list_filter = ("state", "format", "project")
    list_select_related = ("project",)
    date_hierarchy = "created_at"
    fields = (
        *("project", "person", "file_name", "format", "user_id", "state", "size", "has_file", "position"),
        *(json_column("users_by_name"), json_column("counts"), json_column("problems"), json_column("done")),
        *("wait_reason", "error", "created_at", "started_at", "finished_at", "resume_at", "leased_until"),
    )
    readonly_fields = fields


@admin.register(FilePart)
class FilePartAdmin(ReadOnlyAdmin):
    """Parts of uploaded files, without their bytes."""

    list_display = ("file_import", "number", "project")
    list_select_related = ("file_import", "project")
    fields = ("project", "file_import", "number")
    readonly_fields = fields
