"""What readers make of a file: turns, memories, and the places that can't be imported, with the reason."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from apps.common.errors import Unfit
from apps.pipeline.core.chat_messages import message_role
from apps.pipeline.core.enums import Role
from apps.pipeline.core.input_validation import BadInput, checked_name, checked_said_at, cleaned_text, offset_of
from apps.pipeline.core.turn import NewTurn
from apps.pipeline.direct_write.new_memory import NewMemory

MOST_CONTENT = 20_000  # characters
MOST_NAME = 255
MOST_SPEAKER = 120
MOST_REASON = 200
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNKNOWN = re.compile(r"unknown field .*", re.DOTALL)
_QUOTED = re.compile(r" ?(?:'.*'|\".*\")", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ImportEntry:
    """A turn, or a memory (of no session), with its end user, its identifier in the file, and its place there."""

    user_id: str
    external_id: str
    said: NewTurn | NewMemory
    session_id: str = ""
    at: str = ""


@dataclass(eq=False)
class ImportProblem(Unfit):
    """A place of a file that can't be imported, and why; it quotes nothing that somebody said.

    Readers raise it, or BadInput; `placed` yields it in the place of what could not be read.
    """

    at: str
    reason: str

    def __str__(self) -> str:
        return f"{self.at} {self.reason}".strip()


NO_USER = "is named neither by the file nor by the import"  # the reason of a problem


@dataclass(frozen=True, slots=True)
class ImportSource:
    """What is known of a file beside its bytes: its name without the suffix, when it is read, and whose it is."""

    name: str
    now: datetime
    user_id: str = ""  # of entries for which the file names nobody
    users_by_name: Mapping[str, str] = field(default_factory=dict)

    def owner(self, user_id: str = "", *, account: str = "", otherwise: str = "") -> str:
        """Return the end user of an entry: whom the import names for it, or else the file. Raises BadInput without one.

        An account of another product is no user_id by itself; `otherwise` is taken where nobody else is named.
        """
        known = self.users_by_name.get(user_id or account)
        found = known or user_id or self.user_id or otherwise
        if not found:
            raise BadInput(NO_USER, at="user_id")
        return _bounded_name(found, at="user_id")

    def turn(
        self,
        user_id: str,
        session_id: str,
        role: Role | None,
        content: str,
        said_at: datetime | None,
        *,
        external_id: str,
        speaker: str = "",
    ) -> ImportEntry:
        """Return a turn with its text cleaned. Raises BadInput."""
        if role is None:
            raise BadInput("names no known role")
        turn = NewTurn(
            role=role,
            content=cleaned_text(content, at="content", most=MOST_CONTENT),
            speaker=_bounded_name(speaker, at="speaker", least=0, most=MOST_SPEAKER),
            occurred_at=checked_said_at(said_at, at="occurred_at", now=self.now),
            external_id=_bounded_name(external_id, at="turn_id"),
            utc_offset=offset_of(said_at),
        )
        return ImportEntry(user_id, external_id, turn, _bounded_name(session_id, at="session_id"))


def _bounded_name(text: str, *, at: str, least: int = 1, most: int = MOST_NAME) -> str:
    """Return a name unchanged. Raises BadInput."""
    if not least <= len(text) <= most:
        raise BadInput(f"must have {least} to {most} characters", at=at)
    return checked_name(text, at=at)


Read = ImportEntry | ImportProblem
Element = tuple[str, Any]  # of a file, with its place
Reader = Callable[[Any, str, ImportSource], Iterator[Read]]  # of an element and its place


def placed(at: str, entries: Iterator[Read]) -> Iterator[Read]:
    """Yield what is read at a place of a file; what can't be read there is a problem."""
    try:
        for entry in entries:
            yield replace(entry, at=_below(at, entry.at))
    except ImportProblem as problem:
        yield ImportProblem(_below(at, problem.at), problem.reason)
    except BadInput as bad:
        yield ImportProblem(at, f"{bad.at.removeprefix('/')} {bad}".strip())
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        yield ImportProblem(at, unquoted(error))


def _below(*places: str) -> str:
    return ", ".join(filter(None, places))


def unquoted(error: Exception) -> str:
    """Return what a decoder says is wrong, without what it quotes of the file: values, and names that are not known."""
    if isinstance(error, UnicodeError):
        return "is not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return f"is not JSON: {error.msg}"
    if not isinstance(error, msgspec.DecodeError):
        return "is not JSON: a value is too large or nested too deeply"
    return _QUOTED.sub("", _UNKNOWN.sub("unknown field", str(error)))[:MOST_REASON]


def fields_of(raw: Any) -> dict[str, Any]:
    """Return an object of a file. Raises BadInput for another value."""
    if not isinstance(raw, dict):
        raise BadInput("is not an object")
    return raw


def fields_or_none(raw: Any) -> dict[str, Any]:
    """Return an object of a file, an empty one for another value."""
    return raw if isinstance(raw, dict) else {}


def text_of(value: Any) -> str:
    """Return a text or number of a file as text, "" for anything else."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def moment_of(value: Any) -> datetime | None:
    """Read seconds since 1970 or an ISO 8601 text; None for anything else. A time without an offset is in UTC."""
    try:
        if isinstance(value, int | float):
            return EPOCH + timedelta(seconds=value)
        moment = datetime.fromisoformat(value.strip()) if isinstance(value, str) else None
    except (ValueError, OverflowError):
        return None
    return moment.replace(tzinfo=UTC) if moment and not moment.tzinfo else moment


def end_of_day(value: Any) -> datetime | None:
    """Read a date as its last second in UTC, a time as it is; None for anything else."""
    moment = moment_of(value)
    is_date = isinstance(value, str) and len(value.strip()) == len("2026-01-31")
    return moment + timedelta(days=1, seconds=-1) if moment and is_date else moment


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
