"""The tables that an export of a project holds, in an order in which each row comes after those that it refers to."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Field, Model

from apps.items.models import StoredItem
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

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class TransferTable:
    """A table of an export.

    `left_out` are columns that are computed again, or that mean nothing in another installation. The identifiers in
    the JSON of `identifying` are those of other rows. `texts` hold words, which are cleaned and redacted when loaded.
    """

    model: type[Model]
    kind: str
    left_out: Collection[str] = ()
    identifying: Collection[str] = ()
    texts: Collection[str] = ()

    @property
    def fields(self) -> list["Field[object, object]"]:
        """Return the columns of an export."""
        own = [field for field in self.model._meta.concrete_fields if not getattr(field, "generated", False)]
        return [field for field in own if field.attname not in {*self.left_out, "end_user_id", "project_id"}]


OF_PROJECT: tuple[TransferTable, ...] = (
    TransferTable(ConfigurationVersion, "configuration_versions", left_out=["author_id"], texts=["note"]),
    TransferTable(PreFilterRule, "rules"),
    TransferTable(Rollback, "rollbacks", identifying=["selection", "forced"], texts=["note"]),
    TransferTable(EvaluationSample, "evaluation_samples"),
)
OF_END_USER: tuple[TransferTable, ...] = (
    TransferTable(Session, "sessions"),
    TransferTable(
        Trace,
        "traces",
        identifying=["outcomes", "plan"],
        texts="topic metadata agent_scope outcomes plan error".split(),
    ),
    TransferTable(Turn, "turns", texts="content speaker".split()),
    TransferTable(Span, "spans", identifying=["details"], texts=["details"]),
    TransferTable(ModelCall, "model_calls", texts="answer error".split()),
    TransferTable(Entity, "entities", texts=["name"]),
    TransferTable(EntityAlias, "entity_aliases", texts="alias folded".split()),
    TransferTable(EntityChange, "entity_changes", texts="alias folded former".split()),
    TransferTable(
        Memory,
        "memories",
        identifying=["object"],
        left_out=["tongue", "source_tongue"],
        texts="predicate object object_text content topic tags metadata further_sources evidence context".split(),
    ),
    TransferTable(MemoryOrigin, "memory_origins", texts=["evidence"]),
    TransferTable(MemoryVersion, "memory_versions", identifying=["values"], texts=["values"]),
    TransferTable(MemoryLink, "memory_links"),
    TransferTable(
        MemoryVector, "memory_vectors", left_out=["embedding", "question_embeddings", "created_at"], texts=["questions"]
    ),
    TransferTable(MemoryComment, "memory_comments", texts=["text"]),
    TransferTable(
        RollbackItem, "rollback_items", identifying=["done", "left_alone"], texts="done left_alone error".split()
    ),
    TransferTable(EvaluationItem, "evaluation_items"),
    TransferTable(EvaluationLabel, "evaluation_labels"),
    TransferTable(StoredItem, "items", texts="value words".split()),
)
END_USER = "end_user"  # the kind of the line with which the rows of an end user begin
END = "end"  # the kind of the last line
