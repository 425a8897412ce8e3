"""How far a trace has come."""

from enum import StrEnum


class IndexState(StrEnum):
    """Whether the memories of a trace are found by their meaning."""

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"  # until somebody retries the work


class Milestone(StrEnum):
    """How far a trace has come that a caller waits for."""

    ENDED = "ended"  # its memories are stored, and found by their words
    INDEXED = "indexed"  # and by their meaning
