"""The tables that an export of a project holds, in an order in which each row comes after those that it refers to."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from django.db.models import Field, Model

from apps.items.models import StoredItem
from apps.memories.codec import read_statement
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
    TransferTable(MemoryVector, "memory_vectors", left_out=["id", "embedding", "question_embeddings", "created_at"]),
    TransferTable(MemoryComment, "memory_comments"),
    TransferTable(RollbackItem, "rollback_items"),
    TransferTable(EvaluationItem, "evaluation_items"),
    TransferTable(EvaluationLabel, "evaluation_labels"),
    TransferTable(StoredItem, "items"),
)
END_USER = "end_user"  # the kind of the line with which the rows of an end user begin
END = "end"  # the kind of the last line
