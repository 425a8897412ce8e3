"""Enums of rollbacks."""

from enum import StrEnum


class EntityChangeKind(StrEnum):
    """What a trace did to the names of an entity."""

    NAMED = "named"
    RENAMED = "renamed"
    TAKEN = "taken"  # a description of it passed to another entity


class RollbackState(StrEnum):
    """The state of a rollback, or of its part for one end user."""

    WAITING = "waiting"
    DONE = "done"
    UNDOING = "undoing"
    UNDONE = "undone"


class LeftAlone(StrEnum):
    """Why a rollback, or its undo, leaves something as it is, or keeps part of it."""

    EDITED = "edited"
    SAID_ELSEWHERE = "said_elsewhere"
    SAID_AGAIN = "said_again"
    BUILT_UPON = "built_upon"
    RUN_AGAIN = "run_again"
    ROLLED_BACK_SINCE = "rolled_back_since"
    REPEATED = "repeated"
