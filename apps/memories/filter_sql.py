"""Convert a filter of memories to SQL on the row alias `m`, with named parameters."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from psycopg.types.json import Jsonb

from apps.memories.filters import (
    METADATA,
    SOURCE_FIELDS,
    FieldCondition,
    FilterGroup,
    FilterOperator,
    MemoryFilter,
    NegatedFilter,
)
from apps.memories.source_sql import SqlCondition, any_source

_COMPARISONS = {
    FilterOperator.EQ: "{column} = {value}",
    FilterOperator.IN: "{column} = any({value})",
    FilterOperator.GT: "{column} > {value}",
    FilterOperator.GTE: "{column} >= {value}",
    FilterOperator.LT: "{column} < {value}",
    FilterOperator.LTE: "{column} <= {value}",
    FilterOperator.CONTAINS: "strpos({column}, {value}) > 0",
    FilterOperator.ICONTAINS: "strpos(lower({column}), lower({value})) > 0",
}
_TAGS = {
    FilterOperator.CONTAINS: "m.tags @> array[{value}]::varchar[]",
    FilterOperator.IN: "m.tags && {value}::varchar[]",
}
# A value of metadata may be a list, of which one element is enough. Numbers are compared with numbers alone.
_JSON = {
    FilterOperator.EQ: "source.metadata -> {key} @> {value}",
    FilterOperator.IN: "exists (select from jsonb_array_elements({value}) each where source.metadata -> {key} @> each)",
    FilterOperator.CONTAINS: """case jsonb_typeof(source.metadata -> {key})
        when 'string' then strpos(source.metadata ->> {key}, {value}) > 0
        when 'array' then source.metadata -> {key} @> to_jsonb({value}::text) end""",
    FilterOperator.ICONTAINS: """case jsonb_typeof(source.metadata -> {key})
        when 'string' then strpos(lower(source.metadata ->> {key}), lower({value})) > 0 end""",
}
_JSON_NUMBER = """case jsonb_typeof(source.metadata -> {key})
    when 'number' then (source.metadata ->> {key})::numeric {sign} {value} end"""
_JSON_TEXT = """case jsonb_typeof(source.metadata -> {key})
    when 'string' then (source.metadata ->> {key}) collate "C" {sign} {value} end"""
_SIGNS = {FilterOperator.GT: ">", FilterOperator.GTE: ">=", FilterOperator.LT: "<", FilterOperator.LTE: "<="}
# The sessions in which a memory was told, first or again.
_SESSION = """exists (
    select from traces_session session
    where session.end_user_id = m.end_user_id and {condition} and (session.id = m.session_id or exists (
        select from memories_memoryorigin origin
        where origin.end_user_id = m.end_user_id and origin.memory_id = m.id and origin.session_id = session.id
          and not origin.withdrawn
    ))
)"""


def filter_condition(given: MemoryFilter) -> SqlCondition:
    """Return a filter as SQL; conditions on sources that stand side by side in an AND hold for one and the same."""
    writer = _FilterWriter()
    return SqlCondition(writer.written(given), writer.values)


def told_in_session(session_id: str) -> SqlCondition:
    """Return the condition that a memory was told in a session of the caller's name."""
    return filter_condition(FieldCondition("session_id", FilterOperator.EQ, session_id))


class _FilterWriter:
    """Writes conditions and collects their values; created for one filter."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._numbers = count()

    def written(self, given: MemoryFilter) -> str:
        match given:
            case FieldCondition():
                return self._group([given], " and ")
            case NegatedFilter():
                return f"not ({self.written(given.part)})"
            case FilterGroup(any_of=True):
                return f"({' or '.join(self.written(part) for part in given.parts)})"
            case FilterGroup():
                return self._group(given.parts, " and ")

    def _group(self, parts: Sequence[MemoryFilter], joined: str) -> str:
        """Write parts that all must hold; unknown is false, so that a negation of it is true."""
        about_source = [each for each in parts if isinstance(each, FieldCondition) and each.field in SOURCE_FIELDS]
        others = [each for each in parts if each not in about_source]
        texts = [*self._others(others)]
        if about_source:
            texts.append(any_source(joined.join(f"({self._compared(each)}) is true" for each in about_source)))
        return f"({joined.join(texts)})"

    def _others(self, parts: Sequence[MemoryFilter]) -> Iterator[str]:
        for each in parts:
            yield f"({self._compared(each)}) is true" if isinstance(each, FieldCondition) else self.written(each)

    def _compared(self, each: FieldCondition) -> str:
        if each.field == METADATA:
            return self._metadata(each)
        if each.field == "tags":
            return _TAGS[each.operator].format(value=self._named(_listed(each.value)))
        if each.field == "session_id":
            condition = _COMPARISONS[each.operator].format(
                column="session.external_id", value=self._named(_listed(each.value))
            )
            return _SESSION.format(condition=condition)
        row = "source" if each.field in SOURCE_FIELDS else "m"
        return _COMPARISONS[each.operator].format(column=f"{row}.{each.field}", value=self._named(_listed(each.value)))

    def _metadata(self, each: FieldCondition) -> str:
        key = f"{self._named(each.key)}::text"
        if each.operator in _SIGNS:
            template = _JSON_TEXT if isinstance(each.value, str) else _JSON_NUMBER
            return template.format(key=key, sign=_SIGNS[each.operator], value=self._named(each.value))
        as_json = each.operator in (FilterOperator.EQ, FilterOperator.IN)
        value = _listed(each.value)
        return _JSON[each.operator].format(key=key, value=self._named(Jsonb(value) if as_json else value))

    def _named(self, value: Any) -> str:
        """Return the placeholder of a value."""
        name = f"filter_{next(self._numbers)}"
        self.values[name] = value
        return f"%({name})s"


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
