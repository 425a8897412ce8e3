"""Conditions on the sources of a memory, as SQL on the row alias `m`: who told it, with which metadata."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import BooleanField
from django.db.models.expressions import RawSQL
from psycopg.types.json import Jsonb

from apps.pipeline.core.agent_scope import AgentScope

_NAMED = re.compile(r"%\((\w+)\)s")
_ROW = re.compile(r"\bm\.")
_USER = re.compile(r"\bm\.end_user_id\b")
_SOURCE = re.compile(r"\bsource\.(\w+)")
# The first source is in columns, the others are in an array, which most memories have empty. Citus takes neither a
# union of both nor `jsonb_to_recordset`, which is not immutable.
_ANY_SOURCE = """((({first}) is true) or exists (
    select from jsonb_array_elements(m.further_sources) further(told) where {further}
))"""
# A value may be a list, of which one element is enough.
_METADATA = """not exists (
    select from jsonb_each(%(source_metadata)s) wanted
    where (source.metadata -> wanted.key @> wanted.value) is not true
)"""


@dataclass(frozen=True, slots=True)
class SqlCondition:
    """A condition with the values of its named parameters."""

    text: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def as_expression(self, *, table: str, end_user_id: UUID | None = None) -> RawSQL:
        """Return the condition for a queryset, whose rows have the name of their table instead of `m`.

        If all rows are of one end user, other tables are named with this one: Citus does not derive it for them.
        """
        given = self.text if end_user_id is None else _USER.sub("%(of_end_user)s::uuid", self.text)
        known = {**self.values, "of_end_user": end_user_id}
        values = [known[name] for name in _NAMED.findall(given)]
        text = _NAMED.sub("%s", _ROW.sub(f"{table}.", given))
        return RawSQL(text, values, output_field=BooleanField())  # noqa: S611  (texts of this program, values apart)


def any_source(condition: str) -> str:
    """Return the condition that one source of a memory meets a condition on the row alias `source`."""
    further = _SOURCE.sub(lambda named: _of_further_source(named[1]), condition)
    return _ANY_SOURCE.format(first=_SOURCE.sub(r"m.\1", condition), further=further)


def _of_further_source(column: str) -> str:
    arrow = "->" if column == "metadata" else "->>"
    return f"(further.told {arrow} '{column}')"


def told_by_source(*, scope: AgentScope, metadata: Mapping[str, Any]) -> list[SqlCondition]:
    """Return the condition that one source is in a scope and has all of some metadata; none where nothing is named."""
    named = scope.given()
    conditions = [f"source.{name} = %(source_{name})s" for name in named]
    values: dict[str, Any] = {f"source_{name}": value for name, value in named.items()}
    if metadata:
        conditions.append(_METADATA)
        values["source_metadata"] = Jsonb(dict(metadata))
    return [SqlCondition(any_source(" and ".join(conditions)), values)] if conditions else []
