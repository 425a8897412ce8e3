"""The output of every format reader, validated like the bodies of the REST interface."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from apps.pipeline.core.enums import Role
from apps.pipeline.core.input_validation import BadInput, checked_name, checked_said_at, cleaned_text, offset_of
from apps.pipeline.core.turn import NewTurn

MOST_CONTENT = 20_000  # characters
MOST_NAME = 255
MOST_SPEAKER = 120


@dataclass(frozen=True, slots=True)
class Source:
    """A file: its name without the suffix, the default end user, and the time of reading."""

    name: str
    user_id: str
    now: datetime


@dataclass(frozen=True, slots=True)
class ParsedTurn:
    """One turn with its end user, its session and its place in the file."""

    at: str
    user_id: str
    session_id: str
    turn: NewTurn


@dataclass(frozen=True, slots=True)
class BadLine:
    """A place in the file that can't be imported, and why."""

    at: str
    message: str


class Reader(Protocol):
    """Reads one format."""

    def __call__(self, content: bytes, *, source: Source) -> Iterator[ParsedTurn | BadLine]:
        """Yield the turns of a file in its order, with a BadLine for each place that can't be imported."""


def checked(parsed: ParsedTurn, *, now: datetime) -> ParsedTurn | BadLine:
    """Return the turn with its text cleaned, or a BadLine that says why it is invalid."""
    turn = parsed.turn
    try:
        return ParsedTurn(
            at=parsed.at,
            user_id=_name(parsed.user_id, at="user_id", least=1, most=MOST_NAME),
            session_id=_name(parsed.session_id, at="session_id", least=1, most=MOST_NAME),
            turn=replace(
                turn,
                content=cleaned_text(turn.content, at="content", most=MOST_CONTENT),
                speaker=_name(turn.speaker, at="speaker", least=0, most=MOST_SPEAKER),
                occurred_at=checked_said_at(turn.occurred_at, at="occurred_at", now=now),
                external_id=_name(turn.external_id, at="turn_id", least=1, most=MOST_NAME),
                utc_offset=offset_of(turn.occurred_at),
            ),
        )
    except BadInput as bad:
        return BadLine(at=parsed.at, message=f"{bad.at} {bad}")


def _name(text: str, *, at: str, least: int, most: int) -> str:
    if not least <= len(text) <= most:
        raise BadInput(f"must have {least} to {most} characters", at=at)
    return checked_name(text, at=at)


_ROLE_NAMES = {
    "user": Role.USER,
    "human": Role.USER,
    "me": Role.USER,
    "you": Role.USER,
    "assistant": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "bot": Role.ASSISTANT,
    "chatgpt": Role.ASSISTANT,
    "claude": Role.ASSISTANT,
    "gemini": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "tool": Role.TOOL,
}


def role_named(name: str) -> Role | None:
    """Return the role that chat exports denote by this name, or None if it is a person's name."""
    return _ROLE_NAMES.get(name.strip().lower())
