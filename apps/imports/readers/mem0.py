"""mem0: the answer of `get_all`, or an export, as a list of memories or under "results" or "memories"."""

from collections.abc import Iterator
from typing import Any

from apps.imports.readers.entries import (
    MOST_NAME,
    ImportedMemory,
    ImportEntry,
    ImportProblem,
    ImportSource,
    text_of,
)
from apps.imports.readers.imported_memories import checked_memory
from apps.imports.readers.times import end_of_day, moment_of
from apps.pipeline.core.agent_scope import AgentScope
from apps.pipeline.core.enums import MemoryType
from apps.pipeline.direct_write.new_memory import NewMemory

_Fields = dict[str, Any]


def read_mem0(raw: Any, *, at: str, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield a memory as a fact; relations of mem0's graph are not read."""
    fields: _Fields = raw if isinstance(raw, dict) else {}
    content, external_id = fields.get("memory", fields.get("data")), text_of(fields.get("id"))
    if not isinstance(content, str) or not external_id:
        yield ImportProblem(at, "has no memory or no id")
        return
    user_id = source.users.owner(text_of(fields.get("user_id")))
    entry = ImportedMemory(at, user_id, external_id[:MOST_NAME], _memory(fields, content))
    yield checked_memory(entry, now=source.now)


def _memory(raw: _Fields, content: str) -> NewMemory:
    metadata = raw.get("metadata")
    categories = raw.get("categories")
    scope = {name: text_of(raw.get(name))[:MOST_NAME] for name in ("agent_id", "app_id", "run_id")}
    kept = dict(metadata) if isinstance(metadata, dict) else {}
    if isinstance(categories, list) and categories:
        kept["categories"] = categories
    return NewMemory(
        type=MemoryType.FACT,
        content=content,
        metadata=kept,
        said_at=moment_of(raw.get("created_at")),
        expires_at=end_of_day(raw.get("expiration_date")),
        agent_scope=AgentScope(**scope),
    )
