"""Convert a filter of memories to a condition of a queryset."""

import json
from collections.abc import Sequence
from functools import reduce
from operator import and_, or_
from typing import Any

from django.db.models import Exists, OuterRef, Q

from apps.memories.filters import (
    METADATA,
    SOURCE_FIELDS,
    FieldCondition,
    FilterGroup,
    FilterOperator,
    MemoryFilter,
    NegatedFilter,
)
from apps.memories.models import MemoryOrigin
from apps.memories.source_filter import SourcePredicates
from apps.traces.models import Session

_LOOKUPS = {FilterOperator.EQ: "exact", FilterOperator.IN: "in"}  # the others have the name of their lookup
_TAGS = {FilterOperator.CONTAINS: "contains", FilterOperator.IN: "overlap"}
_SIGNS = {FilterOperator.GT: ">", FilterOperator.GTE: ">=", FilterOperator.LT: "<", FilterOperator.LTE: "<="}


def filter_condition(given: MemoryFilter) -> Q:
    """Return the condition of a filter; those on sources that stand side by side in an AND hold for the same source."""
    match given:
        case FieldCondition():
            return _all_of([given])
        case NegatedFilter():
            return ~filter_condition(given.part)
        case FilterGroup(any_of=True):
            return reduce(or_, map(filter_condition, given.parts))
        case FilterGroup():
            return _all_of(given.parts)


def told_in_session(session_id: str) -> Q:
    """Return the condition that a memory was told in a session of the caller's name."""
    return filter_condition(FieldCondition("session_id", FilterOperator.EQ, session_id))


def _all_of(parts: Sequence[MemoryFilter]) -> Q:
    about_source = [each for each in parts if isinstance(each, FieldCondition) and each.field in SOURCE_FIELDS]
    conditions = [
        _of_memory(each) if isinstance(each, FieldCondition) else filter_condition(each)
        for each in parts
        if each not in about_source
    ]
    if about_source:
        predicates = SourcePredicates()
        for each in about_source:
            predicates.add(_of_source(each, predicates))
        conditions.append(predicates.condition())
    return reduce(and_, conditions)


def _of_memory(each: FieldCondition) -> Q:
    value = list(each.value) if isinstance(each.value, tuple) else each.value
    lookup = _LOOKUPS.get(each.operator, each.operator.value)
    if each.field == "tags":
        return Q(**{f"tags__{_TAGS[each.operator]}": value if isinstance(value, list) else [value]})
    if each.field != "session_id":
        return Q(**{f"{each.field}__{lookup}": value})
    # The sessions in which a memory was told, first or again.
    of_user, named = {"end_user_id": OuterRef("end_user_id")}, {f"external_id__{lookup}": value}
    first = Session.objects.filter(**of_user, **named, id=OuterRef("session_id"))
    again = MemoryOrigin.objects.standing().filter(**of_user, memory_id=OuterRef("pk"))
    return Q(Exists(first)) | Q(Exists(again.filter(**{f"session__{name}": each for name, each in named.items()})))


def _of_source(each: FieldCondition, predicates: SourcePredicates) -> str:
    """Return a predicate on one source; numbers are compared with numbers alone."""
    path = f"@.metadata.{json.dumps(each.key)}" if each.field == METADATA else f"@.{each.field}"
    value: Any = each.value
    if each.operator in _SIGNS:
        return f"{path} {_SIGNS[each.operator]} {predicates.named(value)}"
    if each.operator in (FilterOperator.CONTAINS, FilterOperator.ICONTAINS):
        flags = "q" if each.operator is FilterOperator.CONTAINS else "iq"
        text = f'{path}.type() == "string" && {path} like_regex {json.dumps(value)} flag "{flags}"'
        if each.operator is FilterOperator.ICONTAINS:
            return text
        return f'({text}) || ({path}.type() == "array" && {path} == {predicates.named(value)})'
    named = predicates.named(list(value) if isinstance(value, tuple) else value)
    return f"{path} == {named}[*]" if isinstance(value, tuple) else f"{path} == {named}"
