"""Filters of memories: the values that a filter of a search or list consists of, and which fields it may name."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, StrEnum, auto

from apps.pipeline.core.enums import MemoryType, Status

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


FilterValue = str | float | bool | datetime | tuple[str | float | bool, ...]
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
class FieldCondition:
    """A comparison of one field; `key` is the key of metadata. `ne` is a negated `eq`."""

    field: str
    operator: FilterOperator
    value: FilterValue
    key: str = ""


@dataclass(frozen=True, slots=True)
class FilterGroup:
    """Filters of which all, or with `any_of` at least one, must hold."""

    parts: tuple["MemoryFilter", ...]
    any_of: bool = False


@dataclass(frozen=True, slots=True)
class NegatedFilter:
    """A filter that must not hold."""

    part: "MemoryFilter"


MemoryFilter = FieldCondition | FilterGroup | NegatedFilter


def conditions_of(given: MemoryFilter) -> Iterator[FieldCondition]:
    """Yield all conditions of a filter, negated ones too."""
    match given:
        case FieldCondition():
            yield given
        case FilterGroup():
            for part in given.parts:
                yield from conditions_of(part)
        case NegatedFilter():
            yield from conditions_of(given.part)


def wanted_statuses(given: MemoryFilter) -> tuple[Status, ...]:
    """Return the statuses that a filter names, except for those that it negates."""
    match given:
        case FieldCondition(field="status"):
            named = given.value if isinstance(given.value, tuple) else (given.value,)
            return tuple(Status(str(each)) for each in named)
        case FilterGroup():
            return tuple(status for part in given.parts for status in wanted_statuses(part))
    return ()
