"""How the outcome of a replayed trace differs from the recorded one."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any, TypeVar, cast
from uuid import UUID

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.draft import Draft, KnownEntity
from apps.pipeline.core.enums import Outcome
from apps.pipeline.core.identifiers import with_prefixes
from apps.pipeline.core.statement import Candidate

_Value = TypeVar("_Value")
_NAMED_FIELDS = ("candidates", "rulings", "new_entities", "new_aliases", "moved_aliases", "renamed")


Operation = Mapping[str, Any]


def recorded_names(draft: Draft, recorded: Sequence[Operation]) -> dict[UUID, UUID]:
    """Return the recorded identifier of each new entity and memory of a draft that its trace has added before."""
    entities = [each["entity"] for each in recorded if each["op"] == "AddEntity"]
    memories = [each for each in recorded if each["op"] == "AddMemory"]
    added = [ruling for ruling in draft.rulings if ruling.merge_into is None]
    return {
        **_paired(
            {each.id: _entity_keys(each) for each in draft.new_entities},
            {UUID(each["id"]): _recorded_entity_keys(each) for each in entities},
        ),
        **_paired(
            {ruling.memory_id: _candidate_keys(ruling.candidate) for ruling in added},
            {UUID(each["memory_id"]): _recorded_candidate_keys(each["candidate"]) for each in memories},
        ),
    }


def with_names(draft: Draft, names: Mapping[UUID, UUID]) -> Draft:
    """Return a draft with other identifiers of what it adds."""
    if not names:
        return draft
    return draft.evolve(**{name: _renamed(getattr(draft, name), names) for name in _NAMED_FIELDS})


def _paired(new: Mapping[UUID, Sequence[Hashable]], recorded: Mapping[UUID, Sequence[Hashable]]) -> dict[UUID, UUID]:
    """Pair by the first key, which is the most exact, then by the next one, in their order."""
    left, free, pairs = dict(new), dict(recorded), {}
    for place in range(max(map(len, new.values()), default=0)):
        for key, known in list(free.items()):
            found = next((each for each, keys in left.items() if keys[place] == known[place]), None)
            if found is not None:
                pairs[found] = key
                del left[found], free[key]
    return pairs


def _entity_keys(entity: KnownEntity) -> tuple[Hashable, ...]:
    return (canonical_text(entity.name), entity.type.value), (entity.is_user or entity.id,)


def _recorded_entity_keys(entity: Mapping[str, Any]) -> tuple[Hashable, ...]:
    return (canonical_text(entity["name"]), entity["type"]), (entity["is_user"] or entity["id"],)


def _candidate_keys(candidate: Candidate) -> tuple[Hashable, ...]:
    sources = tuple(map(str, candidate.source_turn_ids))
    return (sources, candidate.content, candidate.polarity.value), (sources, candidate.predicate, candidate.evidence)


def _recorded_candidate_keys(candidate: Mapping[str, Any]) -> tuple[Hashable, ...]:
    sources = tuple(candidate["source_turn_ids"])
    return (
        (sources, candidate["content"], candidate["polarity"]),
        (sources, candidate["predicate"], candidate["evidence"]),
    )


def _renamed(value: _Value, names: Mapping[UUID, UUID]) -> _Value:
    found: Any = value
    if isinstance(value, UUID):
        found = names.get(value, value)
    elif isinstance(value, tuple | frozenset):
        renamed = [_renamed(each, names) for each in value]
        if any(one is not other for one, other in zip(renamed, value, strict=True)):
            found = type(value)(renamed)
    elif is_dataclass(value) and not isinstance(value, type):
        before = {each.name: getattr(value, each.name) for each in fields(value)}
        after = {name: _renamed(each, names) for name, each in before.items()}
        found = replace(value, **{name: each for name, each in after.items() if each is not before[name]})
    return cast(_Value, found)


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


@dataclass(frozen=True, slots=True)
class Effort:
    """What a run took."""

    calls: int = 0
    tokens: int = 0
    cost_usd: Decimal = Decimal(0)
    latency_us: int = 0


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run decided, in the JSON that a trace keeps; `rejected` are the turns that the pre-filter dropped."""

    rejected: Mapping[str, str]  # turn to reason
    outcomes: Sequence[Mapping[str, Any]]
    operations: Sequence[Operation]
    failure: str = ""
    effort: Effort = Effort()


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """A turn that the pre-filter dropped before and keeps now, or the other way round, or for another reason."""

    turn_id: str
    before: str  # reason; empty: kept
    after: str


@dataclass(frozen=True, slots=True)
class DiscardChange:
    """A candidate that was discarded in only one of the two runs."""

    is_new: bool
    turn: str | None
    content: str
    stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class TraceDiff:
    """Everything in which a replay differs from the record."""

    turns: tuple[VerdictChange, ...] = ()
    operations: tuple[OperationChange, ...] = ()
    discards: tuple[DiscardChange, ...] = ()
    failure_before: str = ""
    failure_after: str = ""
    before: Effort = field(default=Effort())
    after: Effort = field(default=Effort())

    @property
    def is_empty(self) -> bool:
        """Return True if the same was decided; what it took does not count."""
        return not (self.turns or self.operations or self.discards or self.failure_before != self.failure_after)


def diff_of(*, recorded: RunResult, replayed: RunResult) -> TraceDiff:
    """Compare what a trace did with what it does now."""
    turns = dict.fromkeys((*recorded.rejected, *replayed.rejected))
    reasons = ((turn, recorded.rejected.get(turn, ""), replayed.rejected.get(turn, "")) for turn in turns)
    return TraceDiff(
        turns=tuple(VerdictChange(*each) for each in reasons if each[1] != each[2]),
        operations=operation_changes(recorded.operations, replayed.operations),
        discards=_discard_changes(recorded.outcomes, replayed.outcomes),
        failure_before=recorded.failure,
        failure_after=replayed.failure,
        before=recorded.effort,
        after=replayed.effort,
    )


def _discard_changes(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]
) -> tuple[DiscardChange, ...]:
    was, now = _discards(before), _discards(after)
    gone = (DiscardChange(False, *each) for each in (was - now).elements())
    new = (DiscardChange(True, *each) for each in (now - was).elements())
    return (*gone, *new)


def _discards(outcomes: Sequence[Mapping[str, Any]]) -> Counter[tuple[str | None, str, str, str]]:
    """Count the discarded candidates; turns without one follow from these and from the pre-filter."""
    return Counter(
        (each["turn"], each["content"], str(each["stage"]), each["reason"])
        for each in outcomes
        if each["outcome"] == Outcome.DISCARDED and each["content"] is not None
    )


# What an operation is counted as.
_COUNTED = {
    "AddMemory": "memories",
    "MergeInto": "merged",
    "SupersedeMemory": "superseded",
    "LinkMemories": "links",
    "AddEntity": "entities",
    "FlagForReview": "reviews",
}
_EFFORT = ("calls", "tokens", "cost_usd", "latency_us")


def totals_of(diff: TraceDiff) -> dict[str, Any]:
    """Return the counts of one trace's diff, JSON-ready: 0 is left out, money is text."""
    counts: Counter[str] = Counter()
    counts["same" if diff.is_empty else "different"] = 1
    counts["turns_dropped"] = sum(not turn.before for turn in diff.turns)
    counts["turns_kept"] = sum(not turn.after for turn in diff.turns)
    counts["discards"] = len(diff.discards)
    for change in diff.operations:
        if change.operation in _COUNTED:
            counts[f"{_COUNTED[change.operation]}_{change.kind.value}"] += 1
    totals: dict[str, Any] = {name: count for name, count in counts.items() if count}
    for when, effort in (("before", diff.before), ("after", diff.after)):
        for name in _EFFORT:
            if value := getattr(effort, name):
                totals[f"{name}_{when}"] = str(value) if isinstance(value, Decimal) else value
    return totals


def added_totals(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Add two totals up."""
    return {name: _sum(one.get(name, 0), other.get(name, 0)) for name in dict.fromkeys((*one, *other))}


def _sum(one: Any, other: Any) -> Any:
    if isinstance(one, str) or isinstance(other, str):
        return str(Decimal(one) + Decimal(other))
    return one + other


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
