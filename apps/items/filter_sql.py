"""Conditions on the values of items as SQL.

A filter names fields and what they hold: a value, an object of further conditions, or operators. Numbers are compared
as numbers and texts by their code points; a field of another type than the operand is no match.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from apps.pipeline.core.input_validation import BadInput, pointer_part

MAX_CONDITIONS = 50
_COMPARISONS = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
_Condition = tuple[str, list[Any]]


def filter_conditions(given: Mapping[str, Any], *, at: str) -> list[_Condition]:
    """Return conditions on `item.value`, each with its parameters. Raises BadInput with the place of a bad operator."""
    found = [each for name, wanted in given.items() for each in _field([name], wanted, f"{at}/{pointer_part(name)}")]
    if len(found) > MAX_CONDITIONS:
        raise BadInput(f"holds more than {MAX_CONDITIONS} conditions", at=at)
    return found


def _field(path: list[str], wanted: Any, at: str) -> Iterator[_Condition]:
    if isinstance(wanted, dict):
        if any(name.startswith("$") for name in wanted):
            yield from (_operator(path, name, operand, f"{at}/{name}") for name, operand in wanted.items())
            return
        yield "jsonb_typeof(item.value #> %s) = 'object'", [path]
        for name, inner in wanted.items():
            yield from _field([*path, name], inner, f"{at}/{pointer_part(name)}")
    elif isinstance(wanted, list):
        yield (
            "case when jsonb_typeof(item.value #> %s) = 'array'"
            " then jsonb_array_length(item.value #> %s) = %s else false end",
            [path, path, len(wanted)],
        )
        for place, inner in enumerate(wanted):
            yield from _field([*path, str(place)], inner, f"{at}/{place}")
    else:
        yield _equals(path, wanted)


def _equals(path: list[str], wanted: Any) -> _Condition:
    return "coalesce(item.value #> %s, 'null') = %s::jsonb", [path, json.dumps(wanted)]


def _operator(path: list[str], name: str, operand: Any, at: str) -> _Condition:
    if name == "$eq":
        return _equals(path, operand)
    if name == "$ne":
        condition, parameters = _equals(path, operand)
        return f"not ({condition})", parameters
    if name not in _COMPARISONS:
        raise BadInput(f"is no operator; allowed: $eq, $ne, {', '.join(_COMPARISONS)}", at=at)
    return _comparison(path, _COMPARISONS[name], operand, at)


def _comparison(path: list[str], sign: str, operand: Any, at: str) -> _Condition:
    if isinstance(operand, bool) or not isinstance(operand, int | float | str):
        raise BadInput("must be a number or a text", at=at)
    kind, compared = ("string", f'collate "C" {sign} %s')
    if not isinstance(operand, str):
        kind, compared = "number", f"::numeric {sign} %s::numeric"
    condition = (
        f"case when jsonb_typeof(item.value #> %s) = '{kind}' then (item.value #>> %s) {compared} else false end"
    )
    return condition, [path, path, operand]
