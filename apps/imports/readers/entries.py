"""What readers make of a file: turns, memories, and the places that can't be imported, with the reason."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from apps.pipeline.core.chat_messages import message_role
from apps.pipeline.core.enums import Role
from apps.pipeline.core.input_validation import BadInput, checked_name, checked_said_at, cleaned_text, offset_of
from apps.pipeline.core.turn import NewTurn
from apps.pipeline.direct_write.new_memory import NewMemory

MOST_CONTENT = 20_000  # characters
MOST_NAME = 255
MOST_SPEAKER = 120
MOST_TOPIC = 64
MOST_REASON = 200
_UNKNOWN = re.compile(r"unknown field .*", re.DOTALL)
_QUOTED = re.compile(r" ?(?:'.*'|\".*\")", re.DOTALL)


@dataclass(frozen=True, slots=True)
class EndUsers:
    """Whose the entries of a file are: a user_id by the name that the file gives, and one for all others."""

    default: str = ""
    by_name: Mapping[str, str] = field(default_factory=dict)

    def owner(self, user_id: str) -> str:
        """Return the user_id of an entry whose file names one, or none (""); "" if there is nobody."""
        return self.by_name.get(user_id) or user_id or self.default

    def holder(self, account: str) -> str:
        """Return the user_id for an account of another product, which is no user_id by itself; "" for nobody."""
        return self.by_name.get(account) or self.default


@dataclass(frozen=True, slots=True)
class ImportSource:
    """What is known of a file beside its bytes: its name without the suffix, its end users, and the time of reading."""

    name: str
    now: datetime
    users: EndUsers = EndUsers()


@dataclass(frozen=True, slots=True)
class ImportedTurn:
    """One turn with its end user, its session and its place in the file."""

    at: str
    user_id: str
    session_id: str
    turn: NewTurn


@dataclass(frozen=True, slots=True)
class ImportedMemory:
    """One memory with its end user, its place in the file, and its identifier there."""

    at: str
    user_id: str
    external_id: str
    memory: NewMemory


@dataclass(frozen=True, slots=True)
class ImportProblem:
    """A place of a file that can't be imported, and why; it quotes nothing that somebody said."""

    at: str
    reason: str


ImportEntry = ImportedTurn | ImportedMemory | ImportProblem


def unquoted(error: Exception) -> str:
    """Return what a decoder says is wrong, without what it quotes of the file: values, and names that are not known."""
    if isinstance(error, UnicodeError):
        return "is not UTF-8"
    return _QUOTED.sub("", _UNKNOWN.sub("unknown field", str(error)))[:MOST_REASON] or type(error).__name__


def text_of(value: Any) -> str:
    """Return a text or number of a file as text, "" for anything else."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def checked_turn(entry: ImportedTurn, *, now: datetime) -> ImportedTurn | ImportProblem:
    """Return the turn with its text cleaned, or the problem that makes it invalid."""
    turn = entry.turn
    try:
        return ImportedTurn(
            at=entry.at,
            user_id=checked_user(entry.user_id),
            session_id=_name(entry.session_id, at="session_id", least=1, most=MOST_NAME),
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
        return ImportProblem(entry.at, f"{bad.at} {bad}")


def checked_user(user_id: str) -> str:
    """Return a user_id. Raises BadInput."""
    if not user_id:
        raise BadInput("is named neither by the file nor by the import", at="user_id")
    return _name(user_id, at="user_id", least=1, most=MOST_NAME)


def _name(text: str, *, at: str, least: int, most: int) -> str:
    if not least <= len(text) <= most:
        raise BadInput(f"must have {least} to {most} characters", at=at)
    return checked_name(text, at=at)


_OTHER_ROLE_NAMES = {
    "me": Role.USER,
    "you": Role.USER,
    "bot": Role.ASSISTANT,
    "chatgpt": Role.ASSISTANT,
    "claude": Role.ASSISTANT,
    "gemini": Role.ASSISTANT,
}


def role_named(name: str) -> Role | None:
    """Return the role that exports denote by this name, or None if it is a person's name."""
    folded = name.strip().lower()
    return message_role(folded) or _OTHER_ROLE_NAMES.get(folded)
