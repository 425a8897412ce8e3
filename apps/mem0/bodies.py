"""Requests of mem0's client as requests of this API.

The client sends what it is given, so unknown fields are ignored. Identifiers are at the top level or in `filters`.
"""

import ast
import json
import re
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, UnsetType
from rest_framework.request import Request

from apps.api.problems import invalid
from apps.api.serializers import validated
from apps.api.validation import require_length
from apps.intake.api.turns import TurnsSerializer, checked_text, skipped_for
from apps.memories.api.requests import MemoriesQuery, NewMemoriesSerializer, RevisionSerializer
from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.input_validation import BadInput
from apps.retrieval.api import SearchSerializer

NAMES = ("user_id", "agent_id", "app_id", "run_id")
ANY = "*"
SESSION = "mem0"  # of messages without a run
MOST_FILTER_CHARACTERS = 4_000
Fields = dict[str, Any]
_Body = TypeVar("_Body", bound=msgspec.Struct)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class Mem0Message(msgspec.Struct, frozen=True, kw_only=True):
    """A message as chat APIs write it; `name` is the person who said it, where several people share the role."""

    role: str
    content: Any = None
    name: str | None = None


class Mem0Scope(msgspec.Struct, frozen=True, kw_only=True):
    """Whom a request is about, and who makes it."""

    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None
    filters: Fields = {}
    metadata: Fields | None = None

    def names(self) -> dict[str, str]:
        """Return the identifiers that are given, with those in `filters`; any ("*") is none."""
        beside = {name: value for each in self._parts() for name, value in each.items() if _is_name(name, value)}
        given = {name: value for name in NAMES if (value := getattr(self, name)) is not None}
        return {name: value for name, value in (beside | given).items() if value != ANY}

    def user(self) -> str:
        """Return whom the request is about. Raises Problem if it names nobody."""
        user_id = self.names().get("user_id", "")
        if not 1 <= len(user_id) <= 255:
            raise invalid("is required: memories belong to an end user", at="/user_id")
        return user_id

    def scope(self) -> Fields:
        """Return agent, application and run."""
        return {name: value for name, value in self.names().items() if name != "user_id"}

    def conditions(self) -> list[Fields]:
        """Return the other conditions of `filters`, which all hold."""
        rest = (
            {name: value for name, value in each.items() if not _is_name(name, value) and value != ANY}
            for each in self._parts()
        )
        return [_by_topic(each) for each in rest if each]

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

    def turns(self) -> Fields:
        """Return the messages as turns of a session, which is the run."""
        said_at = None if self.timestamp is None else datetime.fromtimestamp(self.timestamp, tz=UTC)
        turns = [
            {
                "role": each.role,
                "content": each.content,
                "name": each.name or None,
                "occurred_at": said_at and said_at.isoformat(),
            }
            for each in self.messages
        ]
        session_id = self.scope().get("run_id", SESSION)
        given = {"user_id": self.user(), "session_id": session_id, "turns": turns, "metadata": self.metadata}
        return validated(TurnsSerializer, given | self.scope())

    def memories(self) -> tuple[Fields, list[dict[str, str]]]:
        """Return the messages as memories, and those that were skipped. Raises BadInput if none is left."""
        told = {"metadata": self.metadata, "expires_at": _end_of(self.expiration_date), **self.scope()}
        facts: list[Fields] = []
        refusals: list[BadInput] = []
        for index, each in enumerate(self.messages):
            try:
                text = checked_text(each.content, at=f"/messages/{index}")
            except BadInput as refusal:
                refusals.append(refusal)
            else:
                facts.append({"type": MemoryType.FACT, "content": text, "subject": each.name or None, **told})
        if not facts:
            raise refusals[0]
        return validated(NewMemoriesSerializer, {"user_id": self.user(), "memories": facts}), skipped_for(refusals)


class Mem0SearchBody(Mem0Scope, frozen=True, kw_only=True):
    """A query."""

    query: str
    categories: list[str] | None = None
    top_k: Annotated[int, Meta(ge=1, le=1_000)] = 10
    threshold: Annotated[float, Meta(ge=0, le=1)] = 0.1

    def search(self) -> Fields:
        """Return the search."""
        conditions = self.conditions()
        given = {
            "user_id": self.user(),
            "query": self.query,
            "limit": min(self.top_k, 100),
            "min_score": self.threshold,
            "metadata": self.metadata,
            "topics": self.categories or [],
            "filter": {"AND": conditions} if conditions else None,
        }
        return validated(SearchSerializer, given | self.scope())


class Mem0ListBody(Mem0Scope, frozen=True, kw_only=True):
    """Which memories are meant; the dates are those of their creation."""

    categories: list[str] | None = None
    start_date: str | None = None
    end_date: str | None = None

    def selection(self) -> Fields:
        """Return the selection."""
        limits = {"gte": self.start_date, "lte": self.end_date}
        created = {name: value for name, value in limits.items() if value is not None}
        conditions = self.conditions() + ([{"created_at": created}] if created else [])
        wanted = json.dumps({"AND": conditions}) if conditions else None
        given = {"user_id": self.user(), "topics": self.categories or [], "filter": wanted}
        return validated(MemoriesQuery, given | self.scope())


class Mem0UpdateBody(msgspec.Struct, frozen=True, kw_only=True):
    """New values for a memory; null for `expiration_date` clears it."""

    text: str | UnsetType = msgspec.UNSET
    metadata: Fields | UnsetType = msgspec.UNSET
    expiration_date: str | UnsetType | None = msgspec.UNSET

    def revision(self) -> Fields:
        """Return the changes."""
        given = {"content": self.text, "metadata": self.metadata, "expires_at": _end_of(self.expiration_date)}
        return validated(
            RevisionSerializer, {name: value for name, value in given.items() if value is not msgspec.UNSET}
        )


def read_body(request: Request, shape: type[_Body]) -> _Body:
    """Return the body of a request. Raises Problem."""
    require_length(request)
    try:
        return msgspec.convert(request.data, shape)
    except msgspec.ValidationError as error:
        raise invalid(str(error), at="") from error


def written_filters(text: str | None) -> Fields:
    """Return the filters of a query string, which the client writes as a Python dictionary. Raises Problem."""
    try:
        read = ast.literal_eval((text or "{}")[:MOST_FILTER_CHARACTERS])
        json.dumps(read, allow_nan=False)  # only what JSON has
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise invalid("must be a dictionary as Python writes it, of values that JSON has", at="filters") from error
    if not isinstance(read, dict):
        raise invalid("must be a dictionary", at="filters")
    return read


def _end_of(day: Any) -> Any:
    """Return the end of a date in UTC; a time, null and nothing as they are."""
    return f"{day}T23:59:59Z" if isinstance(day, str) and _DAY.fullmatch(day) else day


def _is_name(name: str, value: Any) -> bool:
    """Return True for an identifier, False for another condition or one with operators."""
    return name in NAMES and isinstance(value, str)


def _by_topic(condition: Any) -> Any:
    """Return a condition on `categories` as one on the topic, of which a memory has at most one."""
    if isinstance(condition, list):
        return [_by_topic(each) for each in condition]
    if not isinstance(condition, dict):
        return condition
    made = {name: _by_topic(value) for name, value in condition.items()}
    if "categories" in made:
        wanted = made.pop("categories")
        only = wanted["contains"] if isinstance(wanted, dict) and list(wanted) == ["contains"] else wanted
        made["topic"] = {"in": only} if isinstance(only, list) else only
    return made
