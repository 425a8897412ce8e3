"""Models of memories, entities and their history, one module per subject."""

from apps.memories.models.entity import Entity, EntityAlias, EntityChange
from apps.memories.models.evaluation import EvaluationItem, EvaluationLabel, EvaluationSample
from apps.memories.models.history import LedgerCheckpoint, LedgerEntry, MemoryVersion, Rollback, RollbackItem
from apps.memories.models.memory import Memory, MemoryComment, MemoryLink, MemoryOrigin, MemoryVector

__all__ = [
    "Entity",
    "EntityAlias",
    "EntityChange",
    "EvaluationItem",
    "EvaluationLabel",
    "EvaluationSample",
    "LedgerCheckpoint",
    "LedgerEntry",
    "Memory",
    "MemoryComment",
    "MemoryLink",
    "MemoryOrigin",
    "MemoryVector",
    "MemoryVersion",
    "Rollback",
    "RollbackItem",
]
