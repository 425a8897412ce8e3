"""The formats that can be imported, and which of them a file has."""

import re

from apps.imports.readers.chat_text import read_chat_text
from apps.imports.readers.chatgpt import read_chatgpt
from apps.imports.readers.claude import read_claude
from apps.imports.readers.entries import FormatReader
from apps.imports.readers.json_elements import begins_as_json
from apps.imports.readers.locomo import read_locomo
from apps.imports.readers.mem0 import read_mem0
from apps.imports.readers.memory_lines import read_memory_lines
from apps.imports.readers.turn_lines import read_turn_lines
from apps.imports.readers.zep import read_zep
from apps.pipeline.core.enums import ImportFormat

# Without the format of projects: their rows are no entries, but are restored as they are.
READERS: dict[ImportFormat, FormatReader] = {
    ImportFormat.CHATGPT: read_chatgpt,
    ImportFormat.CLAUDE: read_claude,
    ImportFormat.MEM0: read_mem0,
    ImportFormat.ZEP: read_zep,
    ImportFormat.LOCOMO: read_locomo,
    ImportFormat.JSONL: read_turn_lines,
    ImportFormat.CHAT: read_chat_text,
    ImportFormat.MEMORIES: read_memory_lines,
}
PROJECT_SCHEMA = "memplatform-project"  # in the first line of an export of a project

HEAD_BYTES = 64 * 1024  # of a file, by which its format is recognised
# Keys that only this format has, near the beginning; the first format that fits is taken.
_KEYS: tuple[tuple[ImportFormat, tuple[str, ...]], ...] = (
    (ImportFormat.CHATGPT, ("mapping",)),
    (ImportFormat.CLAUDE, ("chat_messages",)),
    (ImportFormat.LOCOMO, ("sample_id|qa|conversation", "session_1|session_1_date_time|speaker_a|dia_id|evidence")),
    (ImportFormat.MEMORIES, ("review_reasons", "source_confidence")),
    (ImportFormat.JSONL, ("session_id", "role", "content")),
    (ImportFormat.ZEP, ("content", "valid_at|role_type|thread_id|source_description|group_id")),
    (ImportFormat.MEM0, ("memory", "id")),
    (ImportFormat.CHAT, ("role", "content")),
)


def format_of(head: bytes) -> ImportFormat | None:
    """Recognise the format of a file by its first bytes (up to HEAD_BYTES); None if it looks like none of them."""
    text = head.decode("utf-8-sig", errors="replace")
    if re.match(rf'\s*{{"schema": ?"{PROJECT_SCHEMA}"', text):
        return ImportFormat.PROJECT
    if not begins_as_json(text):
        return ImportFormat.CHAT if text.strip() and "\x00" not in text else None
    return next((name for name, keys in _KEYS if all(_has_key(text, key) for key in keys)), None)


def _has_key(text: str, names: str) -> bool:
    return re.search(rf'"(?:{names})"\s*:', text) is not None
