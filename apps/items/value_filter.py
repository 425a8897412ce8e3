"""Conditions on the values of items.

A filter names fields and what they hold: a value, an object of further conditions, or operators. Numbers are compared
as numbers and texts by their code points; a field of another type than the operand is no match.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import Case, F, Func, IntegerField, JSONField, Q, TextField, Value, When
from django.db.models.functions import Coalesce, Collate
from django.db.models.lookups import Exact, GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual

from apps.pipeline.core.input_validation import BadInput, pointer_part

MAX_CONDITIONS = 50
_COMPARISONS = {"$gt": GreaterThan, "$gte": GreaterThanOrEqual, "$lt": LessThan, "$lte": LessThanOrEqual}


def filter_conditions(given: Mapping[str, Any], *, at: str) -> list[Q]:
    """Return conditions on the column `value`. Raises BadInput with the place of a bad operator."""
    found = [each for name, wanted in given.items() for each in _field([name], wanted, f"{at}/{pointer_part(name)}")]
    if len(found) > MAX_CONDITIONS:
        raise BadInput(f"holds more than {MAX_CONDITIONS} conditions", at=at)
    return found


def _field(path: list[str], wanted: Any, at: str) -> Iterator[Q]:
    if isinstance(wanted, dict):
        if any(name.startswith("$") for name in wanted):
            yield from (_operator(path, name, operand, f"{at}/{name}") for name, operand in wanted.items())
            return
        yield _is_of_type(path, "object")
        for name, inner in wanted.items():
            yield from _field([*path, name], inner, f"{at}/{pointer_part(name)}")
    elif isinstance(wanted, list):
        length = Func(_value_at(path), function="jsonb_array_length", output_field=IntegerField())
        yield Q(Exact(Case(When(_is_of_type(path, "array"), then=length)), len(wanted)))
        for place, inner in enumerate(wanted):
            yield from _field([*path, str(place)], inner, f"{at}/{place}")
    else:
        yield _equals(path, wanted)


def _operator(path: list[str], name: str, operand: Any, at: str) -> Q:
    if name == "$eq":
        return _equals(path, operand)
    if name == "$ne":
        return ~_equals(path, operand)
    if name not in _COMPARISONS:
        raise BadInput(f"is no operator; allowed: $eq, $ne, {', '.join(_COMPARISONS)}", at=at)
    if isinstance(operand, bool) or not isinstance(operand, int | float | str):
        raise BadInput("must be a number or a text", at=at)
    compare = _COMPARISONS[name]
    if isinstance(operand, str):
        text = Func(F("value"), *map(Value, path), function="jsonb_extract_path_text", output_field=TextField())
        return _is_of_type(path, "string") & Q(compare(Collate(text, "C"), operand))
    return _is_of_type(path, "number") & Q(compare(_value_at(path), Value(operand, JSONField())))


def _equals(path: list[str], wanted: Any) -> Q:
    null = Value(None, JSONField())
    return Q(Exact(Coalesce(_value_at(path), null), Value(wanted, JSONField())))


def _is_of_type(path: list[str], name: str) -> Q:
    return Q(Exact(Func(_value_at(path), function="jsonb_typeof", output_field=TextField()), name))


def _value_at(path: list[str]) -> Func:
    return Func(F("value"), *map(Value, path), function="jsonb_extract_path", output_field=JSONField())
