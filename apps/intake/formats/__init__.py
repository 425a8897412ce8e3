"""Files of conversations, read as turns: one module a format."""

from apps.intake.formats import chat, jsonl, locomo
from apps.intake.formats.parsed_turn import BadLine, Reader

READERS: dict[str, Reader] = {"locomo": locomo.read, "jsonl": jsonl.read, "chat": chat.read}

__all__ = ["READERS", "BadLine", "Reader"]
