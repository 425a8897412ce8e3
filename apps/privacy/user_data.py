"""The tables that hold an end user's data: one list for erasure, export and the tests.

A table with a column `end_user_id` that is named nowhere here fails tests/privacy/test_user_data.py.
"""

from dataclasses import dataclass

from django.db.models import Model

from apps.events.models import ProjectEvent, WebhookDelivery
from apps.items.models import StoredItem
from apps.memories.models import (
    Entity,
    EntityAlias,
    EntityChange,
    EvaluationItem,
    EvaluationLabel,
    LedgerEntry,
    Memory,
    MemoryComment,
    MemoryLink,
    MemoryOrigin,
    MemoryVector,
    MemoryVersion,
    RollbackItem,
)
from apps.outbox.models import OutboxRow, UserLease
from apps.tenants.models import Erasure
from apps.traces.models import IdempotentRequest, ModelCall, ReplayedTrace, Session, Span, Trace, Turn


@dataclass(frozen=True, slots=True)
class UserTable:
    """A table whose rows are erased with their end user.

    `self_reference` is the column by which rows refer to rows of the same table. Columns `not_exported` are derived
    from others, or mean nothing outside of the database.
    """

    model: type[Model]
    name: str  # in receipts and exports
    self_reference: str = ""
    is_exported: bool = True
    not_exported: frozenset[str] = frozenset()

    @property
    def table(self) -> str:
        """Return the name of the table in the database."""
        return self.model._meta.db_table

    @property
    def key(self) -> str:
        """Return the column that identifies a row of the end user."""
        return str(self.model._meta.pk.column)

    @property
    def columns(self) -> list[str]:
        """Return the columns that an export contains."""
        own = (field.attname for field in self.model._meta.concrete_fields if not field.generated)
        return [column for column in own if column not in self.not_exported | {"end_user_id", "project_id"}]


# Rows are deleted in this order: a row before those that it refers to.
USER_TABLES: tuple[UserTable, ...] = (
    UserTable(WebhookDelivery, "webhook_deliveries", is_exported=False),
    UserTable(ProjectEvent, "events", is_exported=False),
    UserTable(OutboxRow, "work", not_exported=frozenset({"run_at", "waiting_since"})),
    UserTable(IdempotentRequest, "idempotent_answers", is_exported=False),
    UserTable(EvaluationLabel, "evaluation_labels"),
    UserTable(EvaluationItem, "evaluation_items"),
    UserTable(MemoryComment, "memory_comments"),
    UserTable(MemoryOrigin, "memory_origins"),
    UserTable(MemoryVersion, "memory_versions"),
    UserTable(MemoryLink, "memory_links"),
    UserTable(MemoryVector, "memory_vectors", not_exported=frozenset({"embedding", "question_embeddings"})),
    UserTable(
        Memory,
        "memories",
        self_reference="superseded_by_id",
        not_exported=frozenset({"canonical_hash", "tongue"}),
    ),
    UserTable(EntityAlias, "entity_aliases"),
    UserTable(EntityChange, "entity_changes"),
    UserTable(Entity, "entities", self_reference="merged_into_id"),
    UserTable(ReplayedTrace, "replayed_traces"),
    UserTable(ModelCall, "model_calls"),
    UserTable(Span, "spans"),
    UserTable(Turn, "turns", not_exported=frozenset({"hit_counted"})),
    UserTable(Trace, "traces"),
    UserTable(Session, "sessions"),
    UserTable(RollbackItem, "rollbacks"),
    UserTable(StoredItem, "items", not_exported=frozenset({"words"})),
    UserTable(UserLease, "leases", is_exported=False),
)

# What stays, and why. None of it contains a word of the end user.
KEPT: dict[type[Model], str] = {
    LedgerEntry: "identifiers of what was done by whom; the ledger is append-only",
    Erasure: "the receipt",
}
