"""JSON lines of this product: turns, and memories as it exports them (without their history)."""

from collections.abc import Callable, Iterator
from datetime import datetime
from io import BytesIO
from typing import Annotated, Any, TypeVar

import msgspec

from apps.imports.readers.entries import (
    ImportedMemory,
    ImportedTurn,
    ImportEntry,
    ImportProblem,
    ImportSource,
    checked_turn,
    unquoted,
)
from apps.imports.readers.imported_memories import checked_memory
from apps.pipeline.core.agent_scope import AgentScope
from apps.pipeline.core.chat_messages import message_role, message_text
from apps.pipeline.core.enums import MemoryType, Polarity, Status
from apps.pipeline.core.predicates import is_stateful
from apps.pipeline.core.statement import Mention, ObjectValue
from apps.pipeline.core.turn import NewTurn
from apps.pipeline.direct_write.new_memory import NewMemory

Name = Annotated[str, msgspec.Meta(max_length=255)]
_KEPT = {Status.ACTIVE: None, Status.PENDING_REVIEW: Status.PENDING_REVIEW, Status.SUPERSEDED: Status.SUPERSEDED}


class _Turn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    session_id: str
    role: str
    content: Any = None
    user_id: str | None = None
    speaker: str | None = None
    name: str | None = None
    occurred_at: datetime | None = None
    turn_id: str | None = None


class _Memory(msgspec.Struct, frozen=True, kw_only=True):
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


_Line = TypeVar("_Line", _Turn, _Memory)


def file_lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, with their numbers from 1."""
    for number, line in enumerate(BytesIO(content), start=1):
        if line.strip():
            yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line


def read_turn_lines(content: bytes, *, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield a turn for each line; turn_id defaults to the line number."""

    def turn(number: int, line: _Turn) -> ImportEntry:
        role, text = message_role(line.role), message_text(line.content)
        if role is None or not text:
            return ImportProblem(f"line {number}", "names no known role" if role is None else "content holds no text")
        turn = NewTurn(
            role=role,
            content=text,
            speaker=line.speaker or line.name or "",
            occurred_at=line.occurred_at,
            external_id=line.turn_id or f"line-{number}",
        )
        user_id = source.users.owner(line.user_id or "")
        return checked_turn(ImportedTurn(f"line {number}", user_id, line.session_id, turn), now=source.now)

    return _entries(content, _Turn, turn)


def read_memory_lines(content: bytes, *, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield the memories that held or hold; a problem for each that was rejected, retracted, merged or archived."""

    def memory(number: int, line: _Memory) -> ImportEntry:
        at = f"line {number}"
        if line.status not in _KEPT:
            return ImportProblem(at, f"is {line.status}")
        entry = ImportedMemory(at, source.users.owner(line.user_id), line.id, _new_memory(line))
        return checked_memory(entry, now=source.now)

    return _entries(content, _Memory, memory)


def _entries(content: bytes, shape: type[_Line], convert: Callable[[int, _Line], ImportEntry]) -> Iterator[ImportEntry]:
    decoder = msgspec.json.Decoder(shape)
    for number, raw in file_lines(content):
        try:
            line = decoder.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            yield ImportProblem(f"line {number}", unquoted(error))
        else:
            yield convert(number, line)


def _new_memory(line: _Memory) -> NewMemory:
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
