"""JSONL: one turn per line."""

from collections.abc import Iterator
from datetime import datetime
from typing import BinaryIO

import msgspec

from apps.imports.readers.entries import (
    ImportedTurn,
    ImportEntry,
    ImportProblem,
    ImportSource,
    checked_turn,
    unquoted,
)
from apps.imports.readers.file_lines import file_lines
from apps.pipeline.core.enums import Role
from apps.pipeline.core.turn import NewTurn


class _Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    session_id: str
    role: Role
    content: str
    user_id: str | None = None
    speaker: str | None = None
    occurred_at: datetime | None = None
    turn_id: str | None = None


_decoder = msgspec.json.Decoder(_Line)


def read_turn_lines(stream: BinaryIO, *, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield a turn for each line that is not blank; turn_id defaults to the line number."""
    for each in file_lines(stream):
        if isinstance(each, ImportProblem):
            yield each
            continue
        number, raw = each
        try:
            line = _decoder.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            yield ImportProblem(f"line {number}", unquoted(error))
            continue
        yield checked_turn(_turn(line, number=number, source=source), now=source.now)


def _turn(line: _Line, *, number: int, source: ImportSource) -> ImportedTurn:
    turn = NewTurn(
        role=line.role,
        content=line.content,
        speaker=line.speaker or "",
        occurred_at=line.occurred_at,
        external_id=line.turn_id or f"line-{number}",
    )
    return ImportedTurn(f"line {number}", source.users.owner(line.user_id or ""), line.session_id, turn)
