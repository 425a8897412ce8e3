"""Requests of mem0's client as requests of this API.

The client sends what it is given, so unknown fields are ignored. Identifiers are at the top level or in `filters`.
"""

import json
import re
from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta, UnsetType

from apps.api.problems import invalid
from apps.api.schemas.memories import MemoriesBody, MemoryBody, RevisionBody
from apps.api.schemas.memory_selection import MemoriesQuery
from apps.api.schemas.search import SearchBody
from apps.api.schemas.turns import TurnBody, TurnsBody
from apps.pipeline.core.enums import MemoryType, Role

NAMES = ("user_id", "agent_id", "app_id", "run_id")
ANY = "*"
SESSION = "mem0"  # of messages without a run
Page = Annotated[int, Meta(ge=1, le=100_000)]
PageSize = Annotated[int, Meta(ge=1, le=200)]
Fields = dict[str, Any]
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class Mem0Message(msgspec.Struct, frozen=True, kw_only=True):
    """A message: text, or parts of which those with text are read."""

    role: Role
    content: str | list[Fields]

    @property
    def text(self) -> str:
        """Return what is said."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(str(part["text"]) for part in self.content if "text" in part)


class Mem0Scope(msgspec.Struct, frozen=True, kw_only=True):
    """Whom a request is about, and who makes it."""

    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None
    filters: Fields = {}
    metadata: Fields | None = None

    def names(self) -> dict[str, str]:
        """Return the identifiers that are given, with those in `filters`."""
        given = {name: getattr(self, name) for name in NAMES}
        beside = {name: value for each in self._parts() for name, value in each.items() if _is_name(name, value)}
        named = beside | {name: value for name, value in given.items() if value is not None}
        return {name: value for name, value in named.items() if value != ANY}

    def user(self) -> str:
        """Return whom the request is about. Raises Problem if it names nobody."""
        user_id = self.names().get("user_id", "")
        if not 1 <= len(user_id) <= 255:
            raise invalid("is required: memories belong to an end user", at="/user_id")
        return user_id

    def scope(self) -> Fields:
        """Return agent, application and run."""
        return {name: value for name, value in self.names().items() if name != "user_id"}

    def conditions(self) -> Fields | None:
        """Return the other conditions of `filters`; None without any."""
        rest = [
            {name: value for name, value in each.items() if not _is_name(name, value) and value != ANY}
            for each in self._parts()
        ]
        both = [each for each in rest if each]
        return {"AND": both} if both else None

    def _parts(self) -> list[Fields]:
        """Return the objects whose conditions all hold: the filter itself, and those of its AND. Raises Problem."""
        inner = self.filters.get("AND", [])
        if not isinstance(inner, list) or not all(isinstance(each, dict) for each in inner):
            raise invalid("must be a list of objects", at="/filters/AND")
        return [{name: value for name, value in self.filters.items() if name != "AND"}, *inner]


class Mem0AddBody(Mem0Scope, frozen=True, kw_only=True):
    """Messages to remember; without `infer` each is stored as a memory."""

    messages: Annotated[list[Mem0Message], Meta(min_length=1, max_length=100)]
    infer: bool = True
    expiration_date: str | None = None
    timestamp: Annotated[int, Meta(ge=-2_000_000_000, le=10_000_000_000)] | None = None

    def turns(self) -> TurnsBody:
        """Return the messages as turns of a session, which is the run."""
        said_at = None if self.timestamp is None else datetime.fromtimestamp(self.timestamp, tz=UTC)
        turns = tuple(TurnBody(role=each.role, content=each.text, occurred_at=said_at) for each in self.messages)
        session_id = self.scope().get("run_id", SESSION)
        return _checked(
            TurnsBody(user_id=self.user(), session_id=session_id, turns=turns, metadata=self.metadata, **self.scope())
        )

    def memories(self) -> MemoriesBody:
        """Return the messages as memories."""
        told = {"metadata": self.metadata, "expires_at": _end_of(self.expiration_date), **self.scope()}
        facts = tuple(MemoryBody(type=MemoryType.FACT, content=each.text, **told) for each in self.messages)
        return _checked(MemoriesBody(user_id=self.user(), memories=facts))


class Mem0SearchBody(Mem0Scope, frozen=True, kw_only=True):
    """A query."""

    query: str
    top_k: Annotated[int, Meta(ge=1, le=1_000)] = 10
    threshold: Annotated[float, Meta(ge=0, le=1)] = 0.1

    def search(self) -> SearchBody:
        """Return the search."""
        return _checked(
            SearchBody(
                user_id=self.user(),
                query=self.query,
                limit=min(self.top_k, 100),
                min_score=self.threshold,
                metadata=self.metadata,
                filter=self.conditions(),
                **self.scope(),
            )
        )


class Mem0ListBody(Mem0Scope, frozen=True, kw_only=True):
    """Which memories to list."""

    def selection(self) -> MemoriesQuery:
        """Return the selection."""
        conditions = self.conditions()
        wanted = None if conditions is None else json.dumps(conditions)
        return _checked(MemoriesQuery(user_id=self.user(), filter=wanted, **self.scope()))


class Mem0UpdateBody(msgspec.Struct, frozen=True, kw_only=True):
    """New values for a memory; null for `expiration_date` clears it."""

    text: str | UnsetType = msgspec.UNSET
    metadata: Fields | UnsetType = msgspec.UNSET
    expiration_date: str | UnsetType | None = msgspec.UNSET

    def revision(self) -> RevisionBody:
        """Return the changes."""
        given = {"content": self.text, "metadata": self.metadata, "expires_at": _end_of(self.expiration_date)}
        return _checked(RevisionBody(**given))


def _checked(made: Any) -> Any:
    """Return a request that was made here, its values checked as if it had been sent. Raises Problem."""
    try:
        return msgspec.convert(msgspec.to_builtins(made), type(made))
    except msgspec.ValidationError as error:
        raise invalid(str(error), at="") from error


def _end_of(day: Any) -> Any:
    """Return the end of a date in UTC; a time, null and nothing as they are."""
    return f"{day}T23:59:59Z" if isinstance(day, str) and _DAY.fullmatch(day) else day


def _is_name(name: str, value: Any) -> bool:
    """Return True for an identifier, False for another condition or one with operators."""
    return name in NAMES and isinstance(value, str)
