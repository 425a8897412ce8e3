"""Readers that convert files of conversations to turns: one module per format."""

from apps.intake.formats import chat, jsonl, locomo
from apps.intake.formats.parsed_turn import BadLine, Reader

READERS: dict[str, Reader] = {"locomo": locomo.read, "jsonl": jsonl.read, "chat": chat.read}

__all__ = ["READERS", "BadLine", "Reader"]
