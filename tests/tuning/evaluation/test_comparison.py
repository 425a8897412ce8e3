"""A version is scored by the differences of replayed traces."""

from typing import Any
from uuid import UUID

import pytest

from apps.memories.models import EvaluationItem
from apps.pipeline.core.enums import LabelValue
from apps.tuning.evaluation.figures import share_of
from apps.tuning.evaluation.versions import JudgedCase, score_of
from tests.tuning.evaluation.evaluated import labelled

M1, M2, M9, T1, T2 = (UUID(int=number) for number in range(5))


GOOD, BAD = (labelled(value, memory_id=M1) for value in (LabelValue.GOOD, LabelValue.UNTRUE))
MISSED, EMPTY = (labelled(value, turn_id=T1) for value in (LabelValue.SOMETHING, LabelValue.NOTHING))


def change(kind: str, operation: str, object_id: UUID = M1, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "operation": operation, "object_id": str(object_id), "fields": [], **more}


HIDDEN = [{"name": "status", "before": "active", "after": "pending_review"}]
NEW = change("added", "AddMemory", M9, turn_ids=[str(T1)])


@pytest.mark.parametrize(
    ("item", "changes", "is_right"),
    [
        (GOOD, [], True),
        (GOOD, [change("removed", "AddMemory")], False),
        (GOOD, [change("removed", "AddMemory", M2)], True),
        (GOOD, [change("removed", "MergeInto")], True),
        (GOOD, [change("changed", "AddMemory", fields=HIDDEN)], False),
        (GOOD, [change("changed", "AddMemory", fields=[{"name": "candidate.content", "after": "x"}])], True),
        (BAD, [], False),
        (BAD, [change("removed", "AddMemory")], True),
        (BAD, [change("changed", "AddMemory", fields=HIDDEN)], True),
        (MISSED, [], False),
        (MISSED, [NEW], True),
        (MISSED, [NEW | {"operation": "MergeInto"}], True),
        (MISSED, [NEW | {"operation": "AddEntity"}], False),
        (MISSED, [NEW | {"turn_ids": [str(T2)]}], False),
        (MISSED, [change("added", "AddMemory", M9)], False),  # of a replay that did not name turns yet
        (EMPTY, [], True),
        (EMPTY, [NEW], False),
    ],
)
def test_an_item_is_treated_as_labellers_would(
    item: EvaluationItem, changes: list[dict[str, Any]], is_right: bool
) -> None:
    (share,) = [each for each in score_of([(item, {"operations": changes})]).shares.values() if each.whole]
    assert (share.part, share.whole) == (is_right, 1)


def test_items_are_counted_by_case() -> None:
    gone = {"operations": [change("removed", "AddMemory")]}
    score = score_of([(GOOD, {}), (GOOD, gone), (BAD, gone), (MISSED, {}), (GOOD, None), (EMPTY, None)])
    assert score.not_replayed == 2
    assert score.shares == {
        JudgedCase.GOOD_KEPT: share_of(part=1, whole=2),
        JudgedCase.BAD_DROPPED: share_of(part=1, whole=1),
        JudgedCase.MISSED_FOUND: share_of(part=0, whole=1),
        JudgedCase.NOTHING_ADDED: share_of(part=0, whole=0),
    }
