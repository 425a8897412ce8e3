"""JSONL: one turn per line."""

from collections.abc import Iterator
from datetime import datetime

import msgspec

from apps.intake.formats.parsed_turn import BadLine, ParsedTurn, Source, checked
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


def read(content: bytes, *, source: Source) -> Iterator[ParsedTurn | BadLine]:
    """Yield a turn for each line that is not blank; turn_id defaults to the line number."""
    for number, raw in enumerate(content.split(b"\n"), start=1):
        if not raw.strip():
            continue
        at = f"line {number}"
        try:
            line = _decoder.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            yield BadLine(at=at, message=str(error))
            continue
        turn = NewTurn(
            role=line.role,
            content=line.content,
            speaker=line.speaker or "",
            occurred_at=line.occurred_at,
            external_id=line.turn_id or f"line-{number}",
        )
        yield checked(ParsedTurn(at, line.user_id or source.user_id, line.session_id, turn), now=source.now)
