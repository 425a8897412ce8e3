"""Memories by the source that told them."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db.models import BooleanField, F, Func, Q, Value
from django.db.models.functions import JSONObject

from apps.pipeline.core.agent_scope import AgentScope


def source_condition(predicates: Iterable[str]) -> Q:
    """Return the condition that one and the same source of a memory meets all predicates of the JSON path language."""
    first = JSONObject(agent_id="agent_id", app_id="app_id", run_id="run_id", metadata="metadata")
    path = " && ".join(f"({each})" for each in predicates)
    sources = Func(first, F("further_sources"), function="jsonb_build_array")  # the path unwraps the array in it
    return Q(Func(sources, Value(f"$[*] ? ({path})"), function="jsonb_path_exists", output_field=BooleanField()))


def told_by_source(*, scope: AgentScope, metadata: Mapping[str, Any]) -> Q:
    """Return the condition that one source is in a scope and has all of some metadata; an empty one without either."""
    named = scope.given()
    if not metadata:
        return Q(**named) | Q(further_sources__contains=[named]) if named else Q()
    values = (*((f"@.{name}", value) for name, value in named.items()), *_leaves("@.metadata", metadata))
    return source_condition(f"{path} == {json.dumps(value)}" for path, value in values)


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
