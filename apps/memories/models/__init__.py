"""Models of memories, entities and their history, one module per subject."""

from apps.memories.models.comment import MemoryComment
from apps.memories.models.entity import Entity, EntityAlias, EntityChange
from apps.memories.models.evaluation import EvaluationItem, EvaluationLabel, EvaluationSample
from apps.memories.models.history import LedgerCheckpoint, LedgerEntry, MemoryVersion
from apps.memories.models.link import MemoryLink
from apps.memories.models.memory import Memory, MemoryOrigin
from apps.memories.models.rollback import Rollback, RollbackItem
from apps.memories.models.vector import MemoryVector

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
