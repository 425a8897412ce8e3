"""Export a project as JSON lines, from which another one can be made; without accounts, keys and secrets."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import msgspec
from django.db.models import QuerySet
from django.utils import timezone

from apps.imports.transfers.project_tables import (
    END,
    END_USER,
    OF_END_USER,
    OF_PROJECT,
    PROJECT_SCHEMA,
    SCHEMA_VERSION,
    TransferTable,
)
from apps.items.models import StoredItem
from apps.memories.ledger.record import record
from apps.tenants.models import EndUser, Project
from apps.tenants.scope import tenant_scope
from apps.tenants.streamed_rows import streamed_rows


def export_project(*, project_id: UUID) -> Iterator[bytes]:
    """Yield the lines: what it is, the rows of the project, then each end user with all their rows, and the end.

    `kind` names the table of a row, `end_user_id` whose it is. What is written while the export runs may be missing; a
    file without the last line is not complete. The ledger records it.
    """
    with tenant_scope(project_id=project_id):
        project = Project.objects.get(id=project_id)
        record("project_exported", "project", project_id, project_id=project_id)
    return _lines(project)


def _lines(project: Project) -> Iterator[bytes]:
    head = {
        "schema": PROJECT_SCHEMA,
        "version": SCHEMA_VERSION,
        "exported_at": timezone.now(),
        "project": {
            "id": project.id,
            "slug": project.slug,
            "name": project.name,
            "created_at": project.created_at,
        },
    }
    yield msgspec.json.encode(head) + b"\n"
    for table in OF_PROJECT:
        yield from _rows(table, table.model._default_manager.filter(project_id=project.pk), project.pk)
    items = next(table for table in OF_END_USER if table.model is StoredItem)
    yield from _rows(items, StoredItem.objects.filter(project_id=project.pk, end_user__isnull=True), project.pk)
    users = EndUser.objects.for_project(project.pk).present()
    for user in streamed_rows(users.order_by("created_at", "id"), project_id=project.pk):
        named = {"id": user.id, "user_id": user.external_id, "created_at": user.created_at}
        yield _line(END_USER, named, end_user_id=user.id)
        for table in OF_END_USER:
            rows = table.model._default_manager.filter(end_user_id=user.id)
            yield from _rows(table, rows, project.pk, end_user_id=user.id)
    yield _line(END, {}, end_user_id=None)


def _rows(
    table: TransferTable, rows: QuerySet[Any, Any], project_id: UUID, *, end_user_id: UUID | None = None
) -> Iterator[bytes]:
    shown = rows.order_by("pk").values(*(field.attname for field in table.fields))
    for row in streamed_rows(shown, project_id=project_id, end_user_id=end_user_id):
        yield _line(table.kind, row, end_user_id=end_user_id)


def _line(kind: str, values: dict[str, Any], *, end_user_id: UUID | None) -> bytes:
    return msgspec.json.encode({"kind": kind, "end_user_id": end_user_id, "row": values}) + b"\n"
