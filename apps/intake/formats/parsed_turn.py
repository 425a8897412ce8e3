"""What every format is read into, checked as the REST interface checks its bodies."""

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
    """A file: its name without the suffix, the end user to take where it names none, and when it is read."""

    name: str
    user_id: str
    now: datetime


@dataclass(frozen=True, slots=True)
class ParsedTurn:
    """One turn with the end user and session that it belongs to, and its place in the file."""

    at: str
    user_id: str
    session_id: str
    turn: NewTurn


@dataclass(frozen=True, slots=True)
class BadLine:
    """A place of the file that can't be taken, and why."""

    at: str
    message: str


class Reader(Protocol):
    """Reads one format; what can't be taken comes out as a BadPlace in its place."""

    def __call__(self, content: bytes, *, source: Source) -> Iterator[ParsedTurn | BadLine]:
        """Yield what the file's bytes hold, in its order."""


def checked(said: ParsedTurn, *, now: datetime) -> ParsedTurn | BadLine:
    """Return a turn with its text clean, or why it can't be taken."""
    try:
        return _cleaned(said, now=now)
    except BadInput as bad:
        return BadLine(at=said.at, message=f"{bad.at} {bad}")


def _cleaned(said: ParsedTurn, *, now: datetime) -> ParsedTurn:
    turn = said.turn
    return ParsedTurn(
        at=said.at,
        user_id=_name(said.user_id, at="user_id", least=1, most=MOST_NAME),
        session_id=_name(said.session_id, at="session_id", least=1, most=MOST_NAME),
        turn=replace(
            turn,
            content=cleaned_text(turn.content, at="content", most=MOST_CONTENT),
            speaker=_name(turn.speaker, at="speaker", least=0, most=MOST_SPEAKER),
            occurred_at=checked_said_at(turn.occurred_at, at="occurred_at", now=now),
            external_id=_name(turn.external_id, at="turn_id", least=1, most=MOST_NAME),
            utc_offset=offset_of(turn.occurred_at),
        ),
    )


def _name(text: str, *, at: str, least: int, most: int) -> str:
    if not least <= len(text) <= most:
        raise BadInput(f"must hold {least} to {most} characters", at=at)
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
    """Return the role that exports of chats mean by a name; None for a person's."""
    return _ROLE_NAMES.get(name.strip().lower())
