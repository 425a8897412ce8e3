"""Memories by the source that told them."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import BooleanField, F, Func, JSONField, Q, Value
from django.db.models.functions import JSONObject

from apps.pipeline.core.agent_scope import AgentScope


class SourcePredicates:
    """Predicates that one and the same source has to meet."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._values: dict[str, Any] = {}

    def add(self, text: str) -> None:
        """Add a predicate."""
        self._texts.append(text)

    def named(self, value: Any) -> str:
        """Return the variable of a value."""
        name = f"v{len(self._values)}"
        self._values[name] = value
        return f"${name}"

    def condition(self) -> Q:
        """Return the condition that a source of a memory meets all predicates."""
        first = JSONObject(agent_id="agent_id", app_id="app_id", run_id="run_id", metadata="metadata")
        path = " && ".join(f"({text})" for text in self._texts)
        sources = Func(first, F("further_sources"), function="jsonb_build_array")  # the path unwraps the array in it
        values = Value(self._values, JSONField())
        exists = Func(
            sources, Value(f"$[*] ? ({path})"), values, function="jsonb_path_exists", output_field=BooleanField()
        )
        return Q(exists)


def told_by_source(*, scope: AgentScope, metadata: Mapping[str, Any]) -> Q:
    """Return the condition that one source is in a scope and has all of some metadata; an empty one without either."""
    named = scope.given()
    if not metadata:
        return Q(**named) | Q(further_sources__contains=[named]) if named else Q()
    predicates = SourcePredicates()
    for name, value in named.items():
        predicates.add(f"@.{name} == {predicates.named(value)}")
    for path, value in _leaves("@.metadata", metadata):
        predicates.add(f"{path} == {predicates.named(value)}")
    return predicates.condition()


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the values that metadata have at least, with their paths."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(f"{path}.{json.dumps(name)}", inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(path, inner)
    else:
        yield path, value
