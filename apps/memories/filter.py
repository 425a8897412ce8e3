"""Filters of memories: parse them, and turn them into conditions of the ORM."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, StrEnum, auto
from functools import reduce
from operator import and_, or_
from typing import Any

from django.db.models import Exists, OuterRef, Q

from apps.memories.models import MemoryOrigin
from apps.memories.source_filter import source_condition
from apps.pipeline.core.enums import MemoryType, Status
from apps.pipeline.core.input_validation import BadInput, check_storable, checked_moment, pointer_part
from apps.traces.models import Session

METADATA = "metadata"


class FilterOperator(StrEnum):
    """How a condition compares a field with its value."""

    EQ = "eq"
    NE = "ne"
    IN = "in"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    CONTAINS = "contains"
    ICONTAINS = "icontains"


class FieldKind(Enum):
    """The kind of a field's values, which decides what it can be compared with."""

    TEXT = auto()
    CHOICE = auto()
    NUMBER = auto()
    TIME = auto()
    TAGS = auto()
    JSON = auto()


CHOICES: dict[str, type[StrEnum]] = {"type": MemoryType, "status": Status}
SOURCE_FIELDS = frozenset({"agent_id", "app_id", "run_id", METADATA})
FIELDS = {
    **dict.fromkeys(CHOICES, FieldKind.CHOICE),
    **dict.fromkeys(("agent_id", "app_id", "run_id", "session_id", "topic"), FieldKind.TEXT),
    **dict.fromkeys(("confidence", "importance"), FieldKind.NUMBER),
    **dict.fromkeys(
        ("created_at", "updated_at", "said_at", "event_at", "valid_from", "valid_until", "expires_at"), FieldKind.TIME
    ),
    "tags": FieldKind.TAGS,
}
_ORDER = (FilterOperator.GT, FilterOperator.GTE, FilterOperator.LT, FilterOperator.LTE)
_EQUALITY = (FilterOperator.EQ, FilterOperator.NE, FilterOperator.IN)
_TEXT = (FilterOperator.CONTAINS, FilterOperator.ICONTAINS)
OPERATORS: dict[FieldKind, tuple[FilterOperator, ...]] = {
    FieldKind.TEXT: (*_EQUALITY, *_TEXT),
    FieldKind.CHOICE: _EQUALITY,
    FieldKind.NUMBER: (*_EQUALITY, *_ORDER),
    FieldKind.TIME: (FilterOperator.EQ, FilterOperator.NE, *_ORDER),
    FieldKind.TAGS: (FilterOperator.CONTAINS, FilterOperator.IN),
    FieldKind.JSON: tuple(FilterOperator),
}


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """A parsed filter.

    A predicate on the source of a memory is joined with those beside it in an AND, because one source has to meet all.
    """

    of_memory: Q
    of_source: str = ""
    statuses: tuple[Status, ...] = ()  # those that it names, except for those that it negates
    size: int = 1  # of its conditions

    @property
    def condition(self) -> Q:
        """Return the condition for memories."""
        return source_condition([self.of_source]) if self.of_source else self.of_memory


def _joined(parts: Sequence[MemoryFilter], condition: Q) -> MemoryFilter:
    statuses = tuple(status for part in parts for status in part.statuses)
    return MemoryFilter(condition, statuses=statuses, size=sum(part.size for part in parts))


def _and(parts: Sequence[MemoryFilter]) -> MemoryFilter:
    conditions = [part.of_memory for part in parts if not part.of_source]
    if predicates := [part.of_source for part in parts if part.of_source]:
        conditions.append(source_condition(predicates))
    return _joined(parts, reduce(and_, conditions))


def _or(parts: Sequence[MemoryFilter]) -> MemoryFilter:
    return _joined(parts, reduce(or_, (part.condition for part in parts)))


def _not(part: MemoryFilter) -> MemoryFilter:
    return MemoryFilter(~part.condition, size=part.size)


_LOOKUPS = {FilterOperator.EQ: "exact", FilterOperator.IN: "in"}  # the others have the name of their lookup
_TAGS = {FilterOperator.CONTAINS: "contains", FilterOperator.IN: "overlap"}
_SIGNS = {FilterOperator.GT: ">", FilterOperator.GTE: ">=", FilterOperator.LT: "<", FilterOperator.LTE: "<="}


def told_in_session(session_id: str) -> Q:
    """Return the condition that a memory was told in a session of the caller's name."""
    return _of_session("exact", session_id)


def _compared(name: str, operator: FilterOperator, value: Any, *, key: str = "") -> MemoryFilter:
    """Return the comparison of a field with a value; `key` is the key of metadata."""
    lookup = _LOOKUPS.get(operator, operator.value)
    if name in SOURCE_FIELDS:
        path = f"@.{METADATA}.{json.dumps(key)}" if name == METADATA else f"@.{name}"
        return MemoryFilter(Q(), of_source=_of_source(path, operator, value))
    if name == "session_id":
        return MemoryFilter(_of_session(lookup, value))
    if name == "tags":
        return MemoryFilter(Q(**{f"tags__{_TAGS[operator]}": value if isinstance(value, list) else [value]}))
    named = value if isinstance(value, list) else [value]
    statuses = tuple(map(Status, named)) if name == "status" else ()
    return MemoryFilter(Q(**{f"{name}__{lookup}": value}), statuses=statuses)


def _of_session(lookup: str, value: Any) -> Q:
    """Return the condition on the sessions in which a memory was told, first or again."""
    of_user, named = {"end_user_id": OuterRef("end_user_id")}, {f"external_id__{lookup}": value}
    first = Session.objects.filter(**of_user, **named, id=OuterRef("session_id"))
    again = MemoryOrigin.objects.standing().filter(**of_user, memory_id=OuterRef("pk"))
    return Q(Exists(first)) | Q(Exists(again.filter(**{f"session__{name}": each for name, each in named.items()})))


def _of_source(path: str, operator: FilterOperator, value: Any) -> str:
    """Return a predicate on one source; numbers are compared with numbers alone."""
    if isinstance(value, list):
        return " || ".join(f"{path} == {json.dumps(each)}" for each in value)
    literal = json.dumps(value)
    if operator in _TEXT:
        flags = "q" if operator is FilterOperator.CONTAINS else "iq"
        text = f'{path}.type() == "string" && {path} like_regex {literal} flag "{flags}"'
        if operator is FilterOperator.ICONTAINS:
            return text
        return f'({text}) || ({path}.type() == "array" && {path} == {literal})'
    return f"{path} {_SIGNS.get(operator, '==')} {literal}"


MOST_DEPTH = 5
MOST_CONDITIONS = 50
MOST_VALUES = 100  # of one `in`
MOST_CHARACTERS = 255  # of a text
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_DAY_START, _DAY_END = "T00:00:00Z", "T23:59:59.999999Z"
_NO_TIME = "must be a time such as 2026-03-02T09:12:00Z, or a date"
_MOST_NUMBER = 1e300


def parse_filter(value: Any, *, at: str) -> MemoryFilter:
    """Return the filter. Raises BadInput with the pointer of the first value that is wrong."""
    parsed = _parse(value, at=at, depth=1)
    if parsed.size > MOST_CONDITIONS:
        raise BadInput(f"has {parsed.size} conditions; the limit is {MOST_CONDITIONS}", at=at)
    return parsed


def _parse(value: Any, *, at: str, depth: int) -> MemoryFilter:
    if depth > MOST_DEPTH:
        raise BadInput(f"is nested deeper than {MOST_DEPTH} levels", at=at)
    if not isinstance(value, Mapping) or not value:
        raise BadInput("must be an object with a field, AND, OR or NOT", at=at)
    return _all(tuple(_entry(name, each, at=f"{at}/{pointer_part(name)}", depth=depth) for name, each in value.items()))


def _entry(name: str, value: Any, *, at: str, depth: int) -> MemoryFilter:
    if name in ("AND", "OR"):
        parts = _parts(value, at=at, depth=depth)
        return _or(parts) if name == "OR" else _and(parts)
    if name == "NOT":
        several = isinstance(value, list)
        return _not(_or(_parts(value, at=at, depth=depth)) if several else _parse(value, at=at, depth=depth + 1))
    if name == METADATA:
        if not isinstance(value, Mapping) or not value:
            raise BadInput("must be an object with keys", at=at)
        return _all(
            tuple(_field(METADATA, each, key=key, at=f"{at}/{pointer_part(key)}") for key, each in value.items())
        )
    field, _, key = name.partition(".")
    if field == METADATA and key:
        return _field(METADATA, value, key=key, at=at)
    if name not in FIELDS:
        raise BadInput(f"is no field; known are {', '.join(FIELDS)}, {METADATA} and AND, OR, NOT", at=at)
    return _field(name, value, at=at)


def _parts(value: Any, *, at: str, depth: int) -> tuple[MemoryFilter, ...]:
    if not isinstance(value, list) or not value:
        raise BadInput("must be an array of at least one filter", at=at)
    return tuple(_parse(each, at=f"{at}/{index}", depth=depth + 1) for index, each in enumerate(value))


def _all(parts: tuple[MemoryFilter, ...]) -> MemoryFilter:
    return parts[0] if len(parts) == 1 else _and(parts)


def _field(name: str, value: Any, *, at: str, key: str = "") -> MemoryFilter:
    """Return the conditions on a field: a value alone is compared by the first operator of its kind."""
    check_storable(key, at=at)
    kind = FIELDS.get(name, FieldKind.JSON)
    allowed = OPERATORS[kind]
    is_bare = not isinstance(value, Mapping)
    compared = {allowed[0].value: value} if is_bare else value
    if not compared:
        raise BadInput(f"must be a value, or an object with an operator: {', '.join(allowed)}", at=at)
    parts: list[MemoryFilter] = []
    for given, each in compared.items():
        place = at if is_bare else f"{at}/{pointer_part(given)}"
        if given not in allowed:
            raise BadInput(f"is no operator of {name}; known are {', '.join(allowed)}", at=place)
        meant = FilterOperator.EQ if given == FilterOperator.NE else FilterOperator(given)
        if kind is FieldKind.TIME:
            part = _time(name, meant, each, at=place)
        elif meant is FilterOperator.IN:
            if not isinstance(each, list) or not 1 <= len(each) <= MOST_VALUES:
                raise BadInput(f"must be an array of 1 to {MOST_VALUES} values", at=place)
            values = [_scalar(name, kind, meant, one, at=f"{place}/{index}") for index, one in enumerate(each)]
            part = _compared(name, meant, values, key=key)
        else:
            part = _compared(name, meant, _scalar(name, kind, meant, each, at=place), key=key)
        parts.append(_not(part) if given == FilterOperator.NE else part)
    return _all(tuple(parts))


def _scalar(name: str, kind: FieldKind, operator: FilterOperator, value: Any, *, at: str) -> str | float | bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind is FieldKind.NUMBER or (kind is FieldKind.JSON and is_number and operator not in _TEXT):
        if not is_number or abs(value) > _MOST_NUMBER:
            raise BadInput("must be a number", at=at)
        return float(value) if kind is FieldKind.NUMBER else value
    if kind is FieldKind.JSON and isinstance(value, bool) and operator in (FilterOperator.EQ, FilterOperator.IN):
        return value
    if not isinstance(value, str):
        raise BadInput("must be a text", at=at)
    if name in CHOICES and value not in set(CHOICES[name]):
        raise BadInput(f"must be one of {', '.join(CHOICES[name])}", at=at)
    if not 1 <= len(value) <= MOST_CHARACTERS:
        raise BadInput(f"must have 1 to {MOST_CHARACTERS} characters", at=at)
    check_storable(value, at=at)
    return value


def _time(name: str, operator: FilterOperator, value: Any, *, at: str) -> MemoryFilter:
    """Return the condition on a time; a date alone is the whole day in UTC."""
    if not isinstance(value, str):
        raise BadInput(_NO_TIME, at=at)
    if not _DAY.fullmatch(value):
        return _compared(name, operator, _moment(value, at=at))
    if operator is FilterOperator.EQ:
        return _and([_time(name, each, value, at=at) for each in (FilterOperator.GTE, FilterOperator.LTE)])
    edge = _DAY_END if operator in (FilterOperator.GT, FilterOperator.LTE) else _DAY_START
    return _compared(name, operator, _moment(value + edge, at=at))


def _moment(text: str, *, at: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadInput(_NO_TIME, at=at) from error
    return checked_moment(moment, at=at) or moment
