"""Enums of the work in the outbox."""

from enum import StrEnum


class WorkKind(StrEnum):
    """Kinds of work in the outbox."""

    RUN_PIPELINE = "run_pipeline"
    INDEX_MEMORY = "index_memory"
    EXTRACT_SESSION = "extract_session"
    ASK_QUESTIONS = "ask_questions"
    READ_AGAIN = "read_again"


# Kinds whose subject is a trace.
RUNS = frozenset({WorkKind.RUN_PIPELINE, WorkKind.EXTRACT_SESSION, WorkKind.READ_AGAIN})


class WorkState(StrEnum):
    """The state of a piece of work."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"


class PausedKind(StrEnum):
    """What is paused while it doesn't answer."""

    MODEL = "model"
    EMBEDDER = "embedder"
