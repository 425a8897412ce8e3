"""Export memories of a project, all or some: as JSON lines, or as CSV for spreadsheets."""

from collections.abc import Iterator
from enum import StrEnum
from uuid import UUID

import msgspec
from django.db.models import QuerySet

from apps.common.csv_lines import csv_line
from apps.memories.ledger.record import record
from apps.memories.models import Memory
from apps.pipeline.core.identifiers import Prefix, show
from apps.tenants.scope import tenant_scope
from apps.tenants.streamed_rows import streamed_rows

COLUMNS = (
    "id", "user_id", "status", "type", "subject", "predicate", "object", "polarity", "content", "confidence",
    "importance", "tags", "source_confidence", "extractor", "said_at", "valid_from", "valid_until", "expires_at",
    "created_at", "updated_at", "review_reasons", "trace_id", "superseded_by", "agent_id", "app_id", "run_id",
    "private_to",
)  # fmt: skip


class ExportFormat(StrEnum):
    """The file format of exported memories; the value is the file's extension."""

    JSONL = "jsonl"
    CSV = "csv"


def export_memories(*, project_id: UUID, memories: QuerySet[Memory], file_format: ExportFormat) -> Iterator[str]:
    """Yield the lines of a file with ordered memories of a project; the ledger records that they were exported.

    Names of columns come first in CSV. `memories` have their end users and subjects selected.
    """
    with tenant_scope(project_id=project_id):
        record("memories_exported", "project", project_id, project_id=project_id, details={"format": file_format.value})
    return _lines(streamed_rows(memories, project_id=project_id), file_format)


def _lines(rows: Iterator[Memory], file_format: ExportFormat) -> Iterator[str]:
    if file_format is ExportFormat.CSV:
        yield csv_line(COLUMNS)
    for row in rows:
        named = {
            "id": row.shown_id,
            "user_id": row.end_user.external_id,
            "subject": row.subject.name if row.subject else None,
            "object": row.object_text,
            "trace_id": show(Prefix.TRACE, row.trace_id) if row.trace_id else None,
            "superseded_by": show(Prefix.MEMORY, row.superseded_by_id) if row.superseded_by_id else None,
        }
        values = {name: named[name] if name in named else getattr(row, name) for name in COLUMNS}
        if file_format is ExportFormat.CSV:
            yield csv_line(" ".join(value) if isinstance(value, list) else value for value in values.values())
        else:
            yield msgspec.json.encode(values).decode() + "\n"
