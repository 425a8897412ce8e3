"""The values of a memory without some of its changes."""

from typing import Any
from uuid import UUID

import pytest

from apps.memories.models import MemoryVersion
from apps.pipeline.core.operations import ROLLBACK_UNDONE, ROLLED_BACK
from apps.tuning.rollbacks.planning import edits_since, effective, is_edit, values_without

R1, R2 = UUID(int=1), UUID(int=2)


def change(version: int, operation: str = "merged", **replaced: Any) -> MemoryVersion:
    return MemoryVersion(version=version, operation=operation, values=replaced)


def rolled(version: int, rollback: UUID, operation: str = ROLLED_BACK, **replaced: Any) -> MemoryVersion:
    return MemoryVersion(version=version, operation=operation, values=replaced, rollback_id=rollback)


@pytest.mark.parametrize(
    ("changes", "undone", "values"),
    [
        ([change(1, content="a")], {1}, {"content": "a"}),
        ([change(1, content="a")], set(), {}),
        ([change(1, content="a"), change(2, content="b")], {1, 2}, {"content": "a"}),
        ([change(1, content="a"), change(2, content="b")], {2}, {"content": "b"}),
        ([change(1, content="a"), change(2, content="b")], {1}, {}),  # another change has set it since
        ([change(1, content="a", topic="x"), change(2, content="b")], {1}, {"topic": "x"}),
        ([change(1, content="a"), change(2, topic="x"), change(3, content="b")], {1, 3}, {"content": "a"}),
        # The system closed it at the end that the undone change had set.
        (
            [change(1, valid_until=None), change(2, "ended", status="active")],
            {1},
            {"valid_until": None, "status": "active"},
        ),
        ([change(1, "ended", status="active"), change(2, valid_until=None)], {2}, {"valid_until": None}),
    ],
)
def test_values_without(changes: list[MemoryVersion], undone: set[int], values: dict[str, Any]) -> None:
    assert values_without(changes, undone) == values


def test_a_rollback_that_was_undone_cancels_out() -> None:
    merged, person = change(1, content="a"), change(4, topic="x")
    back, undone = rolled(2, R1, content="b"), rolled(3, R1, ROLLBACK_UNDONE, content="a")

    assert effective([merged, back, undone, person]) == [merged, person]
    other = rolled(3, R2, content="a")
    assert effective([merged, back, other]) == [merged, back, other]


@pytest.mark.parametrize(
    ("operation", "by_person", "rollback", "expected"),
    [
        ("revised", True, None, True),
        ("approved", True, None, True),
        ("revised", False, None, False),
        ("superseded", True, None, False),
        ("entity_merged", True, None, False),
        (ROLLED_BACK, True, R1, False),
    ],
)
def test_what_is_an_edit(operation: str, by_person: bool, rollback: UUID | None, expected: bool) -> None:
    actor = "person:7" if by_person else "system"
    made = MemoryVersion(version=1, operation=operation, values={"content": "a"}, rollback_id=rollback, actor=actor)

    assert is_edit(made) is expected


def test_only_edits_of_the_same_columns_since_count() -> None:
    before = MemoryVersion(version=1, operation="revised", values={"content": "a"}, actor="person:7")
    merged = change(2, content="b")
    beside = MemoryVersion(version=3, operation="revised", values={"topic": "x"}, actor="person:7")
    since = MemoryVersion(version=4, operation="revised", values={"content": "c"}, actor="person:7")

    assert edits_since([before, merged, beside], {2}) == []
    assert edits_since([before, merged, beside, since], {2}) == [since]
