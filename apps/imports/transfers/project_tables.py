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
    left_out: frozenset[str] = frozenset()
    identifying: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()

    @property
    def fields(self) -> list["Field[object, object]"]:
        """Return the columns of an export."""
        own = [field for field in self.model._meta.concrete_fields if not getattr(field, "generated", False)]
        return [field for field in own if field.attname not in self.left_out | {"end_user_id", "project_id"}]


def _table(
    model: type[Model], kind: str, *, left_out: Collection[str] = (), ids: Collection[str] = (), texts: str = ""
) -> TransferTable:
    return TransferTable(
        model, kind, left_out=frozenset(left_out), identifying=frozenset(ids), texts=frozenset(texts.split())
    )


OF_PROJECT: tuple[TransferTable, ...] = (
    _table(ConfigurationVersion, "configuration_versions", left_out=["author_id"], texts="note"),
    _table(PreFilterRule, "rules"),
    _table(Rollback, "rollbacks", ids=["selection", "forced"], texts="note"),
    _table(EvaluationSample, "evaluation_samples"),
)
OF_END_USER: tuple[TransferTable, ...] = (
    _table(Session, "sessions"),
    _table(Trace, "traces", ids=["outcomes", "plan"], texts="topic metadata agent_scope outcomes plan error"),
    _table(Turn, "turns", texts="content speaker"),
    _table(Span, "spans", ids=["details"], texts="details"),
    _table(ModelCall, "model_calls", texts="answer error"),
    _table(Entity, "entities", texts="name"),
    _table(EntityAlias, "entity_aliases", texts="alias folded"),
    _table(EntityChange, "entity_changes", texts="alias folded former"),
    _table(
        Memory,
        "memories",
        ids=["object"],
        left_out=["tongue", "source_tongue"],
        texts="predicate object object_text content topic tags metadata further_sources evidence context",
    ),
    _table(MemoryOrigin, "memory_origins", texts="evidence"),
    _table(MemoryVersion, "memory_versions", ids=["values"], texts="values"),
    _table(MemoryLink, "memory_links"),
    _table(
        MemoryVector, "memory_vectors", left_out=["embedding", "question_embeddings", "created_at"], texts="questions"
    ),
    _table(MemoryComment, "memory_comments", texts="text"),
    _table(RollbackItem, "rollback_items", ids=["done", "left_alone"], texts="done left_alone error"),
    _table(EvaluationItem, "evaluation_items"),
    _table(EvaluationLabel, "evaluation_labels"),
    _table(StoredItem, "items", texts="value words"),
)
END_USER = "end_user"  # the kind of the line with which the rows of an end user begin
END = "end"  # the kind of the last line
