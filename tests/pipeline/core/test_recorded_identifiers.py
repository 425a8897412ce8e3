"""UUIDs of recorded JSON get the prefix of what their field is about."""

from typing import Any

import pytest

from apps.pipeline.core.identifiers import with_prefixes
from apps.tuning.replays.differences import shown_difference

ID, HEX = "01a204e9-303c-7553-8c97-dbbd8f2e9758", "01a204e9303c75538c97dbbd8f2e9758"


@pytest.mark.parametrize(
    ("recorded", "shown"),
    [
        ({"memory": ID}, {"memory": f"mem_{HEX}"}),
        ({"memories": [ID, "x"]}, {"memories": [f"mem_{HEX}", "x"]}),
        ({"links": [[ID, ID]]}, {"links": [[f"mem_{HEX}", f"mem_{HEX}"]]}),
        ({"subject_id": ID, "superseded_by_id": None}, {"subject_id": f"ent_{HEX}", "superseded_by_id": None}),
        ({"turn": {"id": ID, "content": ID}}, {"turn": {"id": f"trn_{HEX}", "content": ID}}),
        ({"traces": {ID: "done"}}, {"traces": {f"trc_{HEX}": "done"}}),
        ({"unknown": ID}, None),
        ({"memory": "x" * 36, "score": 0.0, "turn": 3}, None),
    ],
)
def test_recorded_json(recorded: Any, shown: Any) -> None:
    assert with_prefixes(recorded) == (recorded if shown is None else shown)


@pytest.mark.parametrize(
    ("operation", "prefix"), [("AddMemory", "mem"), ("RenameEntity", "ent"), ("ReassignAlias", "ent")]
)
def test_a_difference_of_operations(operation: str, prefix: str) -> None:
    field = {"name": "candidate.subject.entity_id", "before": None, "after": ID}
    change = {"kind": "changed", "operation": operation, "object_id": ID, "fields": [field], "turn_ids": [ID]}
    (shown,) = shown_difference({"operations": [change]})["operations"]
    assert (shown["object_id"], shown["turn_ids"]) == (f"{prefix}_{HEX}", [f"trn_{HEX}"])
    assert shown["fields"] == [field | {"after": f"ent_{HEX}"}]
