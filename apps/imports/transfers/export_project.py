"""Export a project as JSON lines, from which another one can be made; without accounts, keys and secrets.

Each row comes after those that it refers to.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec
from django.db.models import Field, Model, QuerySet
from django.utils import timezone

from apps.items.models import StoredItem
from apps.memories.codec import read_statement
from apps.memories.ledger.record import record
from apps.memories.models import (
    Entity,
    EntityAlias,
    EntityChange,
    EvaluationItem,
    EvaluationLabel,
    EvaluationSample,
    Memory,
    MemoryComment,
    MemoryLink,
    MemoryOrigin,
    MemoryVector,
    MemoryVersion,
    Rollback,
    RollbackItem,
)
from apps.tenants.models import EndUser, Project
from apps.tenants.scope import tenant_scope
from apps.tenants.streamed_rows import streamed_rows
from apps.traces.models import ConfigurationVersion, ModelCall, PreFilterRule, Session, Span, Trace, Turn

PROJECT_SCHEMA = "memplatform-project"  # in the first line of an export
SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class TransferTable:
    """A table of an export.

    `left_out` are columns that are computed again, or that mean nothing in another installation. `check` reads a row as
    the product reads it, and raises an error for one that it can't read.
    """

    model: type[Model]
    kind: str
    left_out: Collection[str] = ()
    check: Callable[[Any], object] | None = None

    @property
    def fields(self) -> list["Field[Any, Any]"]:
        """Return the columns of an export."""
        own = [field for field in self.model._meta.concrete_fields if not getattr(field, "generated", False)]
        return [field for field in own if field.attname not in {*self.left_out, "end_user_id", "project_id"}]


VECTORS = "memory_vectors"  # they are computed again, by the embedder that loads them
OF_PROJECT: tuple[TransferTable, ...] = (
    TransferTable(
        ConfigurationVersion,
        "configuration_versions",
        left_out=["author_id"],
        check=ConfigurationVersion.as_policy,
    ),
    TransferTable(PreFilterRule, "rules", check=PreFilterRule.as_rule),
    TransferTable(Rollback, "rollbacks"),
    TransferTable(EvaluationSample, "evaluation_samples"),
)
OF_END_USER: tuple[TransferTable, ...] = (
    TransferTable(Session, "sessions"),
    TransferTable(Trace, "traces"),
    TransferTable(Turn, "turns"),
    TransferTable(Span, "spans"),
    TransferTable(ModelCall, "model_calls"),
    TransferTable(Entity, "entities"),
    TransferTable(EntityAlias, "entity_aliases"),
    TransferTable(EntityChange, "entity_changes"),
    TransferTable(Memory, "memories", left_out=["tongue", "source_tongue"], check=read_statement),
    TransferTable(MemoryOrigin, "memory_origins"),
    TransferTable(MemoryVersion, "memory_versions"),
    TransferTable(MemoryLink, "memory_links"),
    TransferTable(MemoryVector, VECTORS, left_out=["id", "embedding", "question_embeddings", "created_at"]),
    TransferTable(MemoryComment, "memory_comments"),
    TransferTable(RollbackItem, "rollback_items"),
    TransferTable(EvaluationItem, "evaluation_items"),
    TransferTable(EvaluationLabel, "evaluation_labels"),
    TransferTable(StoredItem, "items"),
)
END_USER = "end_user"  # the kind of the line with which the rows of an end user begin
END = "end"  # the kind of the last line


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
        "project": {name: getattr(project, name) for name in ("id", "slug", "name", "created_at")},
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
