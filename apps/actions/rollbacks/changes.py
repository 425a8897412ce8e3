"""The values of a memory without some of its changes."""

from collections.abc import Collection, Sequence
from typing import Any

from apps.actions.rollbacks.history import RecordedChange
from apps.pipeline.core.operations import ROLLBACK_UNDONE

_ENDED = "ended"  # the system closed it when the end came that an earlier change had set
# What people decide about other memories and about entities changes a memory as well, but is no word about it.
_NO_EDITS = frozenset({"superseded", "entity_merged", "entity_split"})


def effective(changes: Sequence[RecordedChange]) -> list[RecordedChange]:
    """Return the changes but for rollbacks that were undone: these cancel each other out."""
    undone = {each.rollback_id for each in changes if each.operation == ROLLBACK_UNDONE}
    return [each for each in changes if each.rollback_id is None or each.rollback_id not in undone]


def values_without(changes: Sequence[RecordedChange], undone: Collection[int]) -> dict[str, Any]:
    """Return what columns become if some changes, named by the versions that they replaced, had not happened.

    A column that another change has set since keeps its value, and is left out.
    """
    undone = _with_endings(changes, undone)
    values: dict[str, Any] = {}
    set_since: set[str] = set()
    for change in reversed(changes):
        for name, before in change.replaced.items():
            if change.version not in undone:
                set_since.add(name)
            elif name not in set_since:
                values[name] = before
    return values


def set_by_others(changes: Sequence[RecordedChange], undone: Collection[int]) -> frozenset[str]:
    """Return the columns whose value comes from a change that stays."""
    undone = _with_endings(changes, undone)
    return frozenset(name for each in changes if each.version not in undone for name in each.replaced)


def edits_since(changes: Sequence[RecordedChange], undone: Collection[int]) -> list[RecordedChange]:
    """Return what people and callers have changed since the first of some changes, of the columns that these set."""
    since = [each for each in changes if undone and each.version > min(undone)]
    columns = {name for each in changes if each.version in undone for name in each.replaced}
    return [each for each in since if is_edit(each) and not columns.isdisjoint(each.replaced)]


def is_edit(change: RecordedChange) -> bool:
    """Return True for a change of the memory itself on the word of a person or caller."""
    return change.is_by_person and change.rollback_id is None and change.operation not in _NO_EDITS


def _with_endings(changes: Sequence[RecordedChange], undone: Collection[int]) -> set[int]:
    """Add the endings that followed from a validity which an undone change had set."""
    ends = [each.version for each in changes if each.version in undone and "valid_until" in each.replaced]
    follows = {each.version for each in changes if each.operation == _ENDED and ends and each.version > min(ends)}
    return set(undone) | follows
