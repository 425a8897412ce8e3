"""Formats and states of imports."""

from enum import StrEnum


class ImportFormat(StrEnum):
    """The format of a file to import."""

    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    MEM0 = "mem0"
    ZEP = "zep"
    JSONL = "jsonl"  # one turn a line
    CHAT = "chat"  # one conversation as text, Markdown or a JSON list
    MEMORIES = "memories"  # memories as this product exports them


class ImportState(StrEnum):
    """Where an import stands."""

    UPLOADING = "uploading"
    CHECKING = "checking"
    CHECKED = "checked"  # waits for somebody to start it
    WAITING = "waiting"  # for a worker, or until a quota or the queue has room
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


UNDER_WAY = (ImportState.CHECKING, ImportState.WAITING, ImportState.RUNNING)  # without anybody who acts
