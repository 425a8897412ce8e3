"""Export entries of the ledger as lines of JSON."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import msgspec
from django.db.models import QuerySet

from apps.actions.ledger.record import record
from apps.memories.models import LedgerEntry
from apps.tenants.scope import tenant_scope

AT_ONCE = 1_000  # entries per query; no connection is held while the caller reads them
FIELDS = (
    "number", "hash", "id", "created_at", "actor", "verb", "object_kind", "object_id", "end_user_id", "trace_id",
    "details", "project_id",
)  # fmt: skip


def export_ledger(*, project_id: UUID, entries: QuerySet[LedgerEntry]) -> Iterator[bytes]:
    """Yield one line per entry, oldest first; `entries` are those of the project, or some of them.

    Sealed entries carry their number and hash, so that the chain can be verified elsewhere.
    """
    with tenant_scope(project_id=project_id):
        record(project_id=project_id, verb="ledger_exported", object_kind="project", object_id=project_id)
    return _lines(project_id, entries.order_by("id").values(*FIELDS))


def _lines(project_id: UUID, rows: QuerySet[LedgerEntry, dict[str, object]]) -> Iterator[bytes]:
    following = rows
    while found := _read(project_id, following):
        for entry in found:
            yield msgspec.json.encode(entry) + b"\n"
        following = rows.filter(id__gt=found[-1]["id"])


def _read(project_id: UUID, rows: QuerySet[LedgerEntry, dict[str, object]]) -> list[dict[str, Any]]:
    """Read the next entries, in a scope of their own: the view has returned when they are sent."""
    with tenant_scope(project_id=project_id):
        return list(rows[:AT_ONCE])
