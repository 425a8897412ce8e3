"""How the outcome of a replayed trace differs from the recorded one, in JSON."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from decimal import Decimal
from typing import Any, TypeVar, cast
from uuid import UUID

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import Outcome
from apps.pipeline.core.identifiers import with_prefixes

_Value = TypeVar("_Value")
_NAMED_FIELDS = ("candidates", "rulings", "new_entities", "new_aliases", "moved_aliases", "renamed")

Operation = Mapping[str, Any]
Difference = dict[str, Any]


def recorded_names(planned: Sequence[Operation], recorded: Sequence[Operation]) -> dict[UUID, UUID]:
    """Return the recorded identifier of each entity and memory that a plan adds and the record has added before."""
    new, known = ([each for each in some if each["op"] in ("AddEntity", "AddMemory")] for some in (planned, recorded))
    names = {}
    for exactness in (0, 1):
        for old in list(known):
            like = _likenesses(old)[exactness]
            found = next((each for each in new if _likenesses(each)[exactness] == like), None)
            if found is not None:
                names[_added_id(found)] = _added_id(old)
                new.remove(found)
                known.remove(old)
    return names


def with_names(draft: Draft, names: Mapping[UUID, UUID]) -> Draft:
    """Return a draft with other identifiers of what it adds."""
    if not names:
        return draft
    return draft.evolve(**{name: _renamed(getattr(draft, name), names) for name in _NAMED_FIELDS})


def _added_id(operation: Operation) -> UUID:
    return UUID(_at(operation, _IDENTITY[operation["op"]][0]))


def _likenesses(operation: Operation) -> tuple[Hashable, Hashable]:
    """Return what an added entity or memory is recognised by: first the more exact, then the less exact."""
    if operation["op"] == "AddEntity":
        entity = operation["entity"]
        return (canonical_text(entity["name"]), entity["type"]), entity["is_user"] or entity["id"]
    stated = operation["candidate"]
    sources = tuple(stated["source_turn_ids"])
    return (sources, stated["content"], stated["polarity"]), (sources, stated["predicate"], stated["evidence"])


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


def operation_changes(recorded: Sequence[Operation], replayed: Sequence[Operation]) -> list[Difference]:
    """Return what differs: first the recorded operations in their order, then new ones."""
    before, after = _by_key(recorded), _by_key(replayed)
    changes = []
    for key in dict.fromkeys((*before, *after)):
        was, now = before.get(key), after.get(key)
        fields = list(_field_changes("", was, now)) if was and now else []
        if was and now and not fields:
            continue
        changes.append(
            {
                "kind": "changed" if was and now else "removed" if was else "added",
                "operation": key[0],
                "object_id": key[1],
                "content": content_of(now) if now else "",  # of the memory, or the name of the entity
                "before_content": content_of(was) if was else "",
                "fields": fields,
                # Of the candidate of a new operation: the turns that state it.
                "turn_ids": list((now.get("candidate") or {}).get("source_turn_ids", ())) if now and not was else [],
            }
        )
    return changes


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


def _field_changes(path: str, before: Any, after: Any) -> Iterator[dict[str, Any]]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys((*before, *after)):
            where = f"{path}.{name}" if path else name
            if name not in _NOT_COMPARED and where not in _PROPOSED:
                yield from _field_changes(where, before.get(name), after.get(name))
    elif before != after:
        yield {"name": path, "before": before, "after": after}


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run decided, in the JSON that a trace keeps; `rejected` are the turns that the pre-filter dropped."""

    rejected: Mapping[str, str]  # turn to reason
    outcomes: Sequence[Mapping[str, Any]]
    operations: Sequence[Operation]
    failure: str = ""
    effort: Mapping[str, Any] = field(default_factory=dict)  # calls, tokens, cost_usd, latency_us


def diff_of(*, recorded: RunResult, replayed: RunResult) -> Difference:
    """Compare what a trace did with what it does now; empty if the same was decided, whatever it took."""
    turns = dict.fromkeys((*recorded.rejected, *replayed.rejected))
    reasons = ((turn, recorded.rejected.get(turn, ""), replayed.rejected.get(turn, "")) for turn in turns)
    was, now = _discards(recorded.outcomes), _discards(replayed.outcomes)
    found: Difference = {
        "turns": [{"turn_id": turn, "before": old, "after": new} for turn, old, new in reasons if old != new],
        "operations": operation_changes(recorded.operations, replayed.operations),
        "discards": [
            {"is_new": is_new, "turn": turn, "content": content, "stage": stage, "reason": reason}
            for is_new, lost in ((False, was - now), (True, now - was))
            for turn, content, stage, reason in lost.elements()
        ],
    }
    if not any(found.values()) and recorded.failure == replayed.failure:
        return {}
    failures = {"failure_before": recorded.failure, "failure_after": replayed.failure}
    return {**found, **failures, "before": recorded.effort, "after": replayed.effort}


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


def totals_of(diff: Difference, *, before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts of one trace's diff and what both runs took; 0 is left out."""
    counts: Counter[str] = Counter()
    counts["different" if diff else "same"] = 1
    counts["turns_dropped"] = sum(not turn["before"] for turn in diff.get("turns", ()))
    counts["turns_kept"] = sum(not turn["after"] for turn in diff.get("turns", ()))
    counts["discards"] = len(diff.get("discards", ()))
    for change in diff.get("operations", ()):
        if change["operation"] in _COUNTED:
            counts[f"{_COUNTED[change['operation']]}_{change['kind']}"] += 1
    took = {
        f"{name}_{when}": value
        for when, effort in (("before", before), ("after", after))
        for name, value in effort.items()
        if Decimal(value)
    }
    return {**{name: count for name, count in counts.items() if count}, **took}


def added_totals(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Add two totals up."""
    totals: dict[str, Any] = {}
    for name in dict.fromkeys((*one, *other)):
        first, second = one.get(name, 0), other.get(name, 0)
        is_money = isinstance(first, str) or isinstance(second, str)
        totals[name] = str(Decimal(first) + Decimal(second)) if is_money else first + second
    return totals


def shown_difference(difference: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON of a TraceDiff with prefixes before its identifiers; empty if there is no difference."""
    shown: dict[str, Any] = with_prefixes(difference)
    for change in shown.get("operations", ()):
        # What a change and its fields are about is told by their names.
        about = "entity_id" if change["operation"].endswith(("Entity", "Alias")) else "memory_id"
        change["object_id"] = with_prefixes(change["object_id"], field=about)
        for each in change["fields"]:
            field = each["name"].rpartition(".")[2]
            each |= {side: with_prefixes(each[side], field=field) for side in ("before", "after")}
    return shown
