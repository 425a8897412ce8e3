"""The difference of two plans, both as the JSON that a trace keeps of its operations."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Operation = Mapping[str, Any]

# What names the thing that an operation changes; work to do in the background is no change.
_IDENTITY: dict[str, tuple[str, ...]] = {
    "AddEntity": ("entity.id",),
    "RenameEntity": ("entity_id",),
    "AddAlias": ("entity_id", "alias"),
    "ReassignAlias": ("entity_id", "alias"),
    "AddMemory": ("memory_id",),
    "MergeInto": ("memory_id",),
    "SupersedeMemory": ("memory_id",),
    "ReviseMemory": ("memory_id",),
    "LinkMemories": ("from_id", "to_id", "kind"),
    "FlagForReview": ("memory_id", "reason"),
}
# Fields that are no decision: versions count changes, hashes of salted statements contain identifiers, and what an
# extractor proposes about memories was decided upon by other operations.
_NOT_COMPARED = frozenset({"op", "expected_version", "canonical_hash"})
_PROPOSED = frozenset({"candidate.memory_id", "candidate.same_as", "candidate.replaces", "candidate.contradicts"})
_Key = tuple[str, ...]


class ChangeKind(StrEnum):
    """How a replayed trace differs in one operation or turn."""

    ADDED = "added"  # newly
    REMOVED = "removed"  # no longer
    CHANGED = "changed"  # differently


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of an operation, by its path."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class OperationChange:
    """An operation that one of two plans has, or that both have with different values."""

    kind: ChangeKind
    operation: str
    object_id: str
    content: str = ""  # of the memory or the name of the entity
    before_content: str = ""
    fields: tuple[FieldChange, ...] = field(default=())
    turn_ids: tuple[str, ...] = ()  # of the candidate of a new operation: the turns that state it


def operation_changes(recorded: Sequence[Operation], replayed: Sequence[Operation]) -> tuple[OperationChange, ...]:
    """Return what differs: first the recorded operations in their order, then new ones."""
    before, after = _by_key(recorded), _by_key(replayed)
    changes = []
    for key, was in before.items():
        now = after.get(key)
        if now is None:
            changes.append(OperationChange(ChangeKind.REMOVED, key[0], key[1], before_content=content_of(was)))
        elif fields := tuple(_field_changes("", was, now)):
            old, new = content_of(was), content_of(now)
            changes.append(OperationChange(ChangeKind.CHANGED, key[0], key[1], new, before_content=old, fields=fields))
    for key, now in after.items():
        if key not in before:
            turns = tuple(map(str, (now.get("candidate") or {}).get("source_turn_ids", ())))
            changes.append(OperationChange(ChangeKind.ADDED, key[0], key[1], content_of(now), turn_ids=turns))
    return tuple(changes)


def content_of(operation: Operation) -> str:
    """Return the sentence or name that an operation writes, as far as it has one."""
    candidate, entity = operation.get("candidate"), operation.get("entity")
    if candidate:
        return str(candidate["content"])
    return str(entity["name"] if entity else operation.get("name") or operation.get("alias") or "")


def _by_key(operations: Sequence[Operation]) -> dict[_Key, Operation]:
    """Key operations by what they change; a further one on the same thing gets its number."""
    seen: Counter[_Key] = Counter()
    keyed: dict[_Key, Operation] = {}
    for operation in operations:
        name = operation["op"]
        if name not in _IDENTITY:
            continue
        key = (name, *(str(_at(operation, path)) for path in _IDENTITY[name]))
        seen[key] += 1
        keyed[*key, str(seen[key])] = operation
    return keyed


def _at(operation: Operation, path: str) -> Any:
    value: Any = operation
    for name in path.split("."):
        value = value[name]
    return value


def _field_changes(path: str, before: Any, after: Any) -> Iterator[FieldChange]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys((*before, *after)):
            where = f"{path}.{name}" if path else name
            if name not in _NOT_COMPARED and where not in _PROPOSED:
                yield from _field_changes(where, before.get(name), after.get(name))
    elif before != after:
        yield FieldChange(path, before, after)
