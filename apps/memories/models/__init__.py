"""Models of memories, entities and their history, one module per subject."""

from apps.memories.models.entity import Entity, EntityAlias
from apps.memories.models.history import LedgerCheckpoint, LedgerEntry, MemoryVersion
from apps.memories.models.memory import Memory, MemoryLink, MemoryOrigin
from apps.memories.models.revision import MemoryChange, MemoryRevision
from apps.memories.models.vector import MemoryVector

__all__ = [
    "Entity",
    "EntityAlias",
    "LedgerCheckpoint",
    "LedgerEntry",
    "Memory",
    "MemoryChange",
    "MemoryLink",
    "MemoryOrigin",
    "MemoryRevision",
    "MemoryVector",
    "MemoryVersion",
]
