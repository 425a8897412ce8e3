"""The difference of a trace and its replay, as callers see it."""

from collections.abc import Mapping
from typing import Any

from apps.pipeline.core.identifiers import with_prefixes

_SIDES = ("before", "after")


def shown_difference(difference: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON of a TraceDiff with prefixes before its identifiers; empty if there is no difference."""
    operations = []
    for change in difference.get("operations", ()):
        # What an OperationChange and its fields are about is told by their names.
        about = "entity_id" if change["operation"].endswith(("Entity", "Alias")) else "memory_id"
        object_id = with_prefixes(change["object_id"], field=about)
        fields = [
            {**each, **{side: with_prefixes(each[side], field=each["name"].rpartition(".")[2]) for side in _SIDES}}
            for each in change["fields"]
        ]
        operations.append({**with_prefixes(change), "object_id": object_id, "fields": fields})
    return {**with_prefixes(difference), **({"operations": operations} if operations else {})}
