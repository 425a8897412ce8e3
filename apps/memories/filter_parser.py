"""Parse the filter of a search or list from JSON, within limits of depth and size.

    {"AND": [{"agent_id": "a1"}, {"said_at": {"gte": "2026-01-01"}}, {"NOT": {"tags": {"contains": "goal"}}}]}

Fields side by side in an object must all hold. `metadata.KEY` compares one key, `metadata` with an object several.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from apps.memories.filters import (
    CHOICES,
    FIELDS,
    METADATA,
    OPERATORS,
    FieldCondition,
    FieldKind,
    FilterGroup,
    FilterOperator,
    FilterValue,
    MemoryFilter,
    NegatedFilter,
    conditions_of,
)
from apps.pipeline.core.input_validation import BadInput, check_storable, checked_moment, pointer_part

MOST_DEPTH = 5
MOST_CONDITIONS = 50
MOST_VALUES = 100  # of one `in`
MOST_CHARACTERS = 255  # of a text
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_DAY_START, _DAY_END = "T00:00:00Z", "T23:59:59.999999Z"
_NO_TIME = "must be a time such as 2026-03-02T09:12:00Z, or a date"
_MOST_NUMBER = 1e300
_OF_TEXT = (FilterOperator.CONTAINS, FilterOperator.ICONTAINS)
# The end of a day that a date alone stands for.
_FROM_END = (FilterOperator.GT, FilterOperator.LTE)


def parse_filter(value: Any, *, at: str) -> MemoryFilter:
    """Return the filter. Raises BadInput with the pointer of the first value that is wrong."""
    parsed = _parse(value, at=at, depth=1)
    count = sum(1 for _ in conditions_of(parsed))
    if count > MOST_CONDITIONS:
        raise BadInput(f"has {count} conditions; the limit is {MOST_CONDITIONS}", at=at)
    return parsed


def _parse(value: Any, *, at: str, depth: int) -> MemoryFilter:
    if depth > MOST_DEPTH:
        raise BadInput(f"is nested deeper than {MOST_DEPTH} levels", at=at)
    if not isinstance(value, Mapping) or not value:
        raise BadInput("must be an object with a field, AND, OR or NOT", at=at)
    return _all(tuple(_entry(name, each, at=f"{at}/{pointer_part(name)}", depth=depth) for name, each in value.items()))


def _entry(name: str, value: Any, *, at: str, depth: int) -> MemoryFilter:
    if name in ("AND", "OR"):
        return FilterGroup(_parts(value, at=at, depth=depth), any_of=name == "OR")
    if name == "NOT":
        several = isinstance(value, list)
        part = FilterGroup(_parts(value, at=at, depth=depth), any_of=True) if several else None
        return NegatedFilter(part or _parse(value, at=at, depth=depth + 1))
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
    return parts[0] if len(parts) == 1 else FilterGroup(parts)


def _field(name: str, value: Any, *, at: str, key: str = "") -> MemoryFilter:
    """Return the conditions on a field: a value alone is compared by the first operator of its kind."""
    check_storable(key, at=at)
    kind = FIELDS.get(name, FieldKind.JSON)
    allowed = OPERATORS[kind]
    compared = value if isinstance(value, Mapping) else {allowed[0].value: value}
    if not compared:
        raise BadInput(f"must be a value, or an object with an operator: {', '.join(allowed)}", at=at)
    return _all(tuple(_conditions(name, kind, compared, at=at, is_bare=compared is not value, key=key)))


def _conditions(
    name: str, kind: FieldKind, compared: Mapping[str, Any], *, at: str, is_bare: bool, key: str
) -> Iterator[MemoryFilter]:
    for given, value in compared.items():
        place = at if is_bare else f"{at}/{pointer_part(given)}"
        if given not in OPERATORS[kind]:
            raise BadInput(f"is no operator of {name}; known are {', '.join(OPERATORS[kind])}", at=place)
        operator = FilterOperator(given)
        if kind is FieldKind.TIME:
            yield _time(name, operator, value, at=place)
        else:
            is_negated = operator is FilterOperator.NE
            meant = FilterOperator.EQ if is_negated else operator
            condition = FieldCondition(name, meant, _value(name, kind, meant, value, at=place), key=key)
            yield NegatedFilter(condition) if is_negated else condition


def _value(name: str, kind: FieldKind, operator: FilterOperator, value: Any, *, at: str) -> FilterValue:
    if operator is not FilterOperator.IN:
        return _scalar(name, kind, operator, value, at=at)
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_VALUES:
        raise BadInput(f"must be an array of 1 to {MOST_VALUES} values", at=at)
    return tuple(_scalar(name, kind, operator, each, at=f"{at}/{index}") for index, each in enumerate(value))


def _scalar(name: str, kind: FieldKind, operator: FilterOperator, value: Any, *, at: str) -> str | float | bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind is FieldKind.NUMBER or (kind is FieldKind.JSON and is_number and operator not in _OF_TEXT):
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
        is_negated = operator is FilterOperator.NE
        condition = FieldCondition(name, FilterOperator.EQ if is_negated else operator, _moment(value, at=at))
        return NegatedFilter(condition) if is_negated else condition
    if operator in (FilterOperator.EQ, FilterOperator.NE):
        day = FilterGroup(
            (
                FieldCondition(name, FilterOperator.GTE, _moment(value + _DAY_START, at=at)),
                FieldCondition(name, FilterOperator.LTE, _moment(value + _DAY_END, at=at)),
            )
        )
        return day if operator is FilterOperator.EQ else NegatedFilter(day)
    edge = _DAY_END if operator in _FROM_END else _DAY_START
    return FieldCondition(name, operator, _moment(value + edge, at=at))


def _moment(text: str, *, at: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadInput(_NO_TIME, at=at) from error
    return checked_moment(moment, at=at) or moment
