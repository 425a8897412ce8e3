"""Memories as this product exports them, one a line; the history of each stays behind (see the export of a project)."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, BinaryIO

import msgspec

from apps.imports.readers.entries import ImportedMemory, ImportEntry, ImportProblem, ImportSource, unquoted
from apps.imports.readers.file_lines import file_lines
from apps.imports.readers.imported_memories import checked_memory
from apps.pipeline.core.agent_scope import AgentScope
from apps.pipeline.core.enums import MemoryType, Polarity, Status
from apps.pipeline.core.predicates import is_stateful
from apps.pipeline.core.statement import Mention, ObjectValue
from apps.pipeline.direct_write.new_memory import NewMemory

_KEPT = {Status.ACTIVE: None, Status.PENDING_REVIEW: Status.PENDING_REVIEW, Status.SUPERSEDED: Status.SUPERSEDED}


Name = Annotated[str, msgspec.Meta(max_length=255)]


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    content: str
    type: MemoryType
    user_id: str = ""
    status: Status = Status.ACTIVE
    subject: str | None = None
    predicate: str = ""
    object: str = ""
    polarity: Polarity = Polarity.POSITIVE
    confidence: float | None = None
    importance: float = 0.5
    tags: tuple[str, ...] = ()
    said_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    agent_id: Name = ""
    app_id: Name = ""
    run_id: Name = ""
    private_to: Name = ""


_decoder = msgspec.json.Decoder(_Line)


def read_memory_lines(stream: BinaryIO, *, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield the memories that held or hold; those that were rejected, retracted, merged or archived are told."""
    for each in file_lines(stream):
        if isinstance(each, ImportProblem):
            yield each
            continue
        number, raw = each
        at = f"line {number}"
        try:
            line = _decoder.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            yield ImportProblem(at, unquoted(error))
            continue
        if line.status not in _KEPT:
            yield ImportProblem(at, f"is {line.status}")
            continue
        entry = ImportedMemory(at, source.users.owner(line.user_id), line.id, _memory(line))
        yield checked_memory(entry, now=source.now)


def _memory(line: _Line) -> NewMemory:
    has_triple = bool(line.predicate and line.object)
    return NewMemory(
        type=line.type,
        content=line.content,
        subject=Mention(text=line.subject or ""),
        predicate=line.predicate if has_triple else "",
        object=ObjectValue(literal=line.object) if has_triple else ObjectValue(),
        stateful=has_triple and is_stateful(line.predicate),
        polarity=line.polarity,
        importance=min(1.0, max(0.0, line.importance)),
        confidence=None if line.confidence is None else min(1.0, max(0.0, line.confidence)),
        tags=line.tags,
        status=_KEPT[line.status],
        said_at=line.said_at,
        valid_from=line.valid_from,
        valid_until=line.valid_until,
        expires_at=line.expires_at,
        agent_scope=AgentScope(agent_id=line.agent_id, app_id=line.app_id, run_id=line.run_id),
        private_to=line.private_to,
    )
