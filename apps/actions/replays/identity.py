"""Recorded identifiers in a replay: what a trace adds again gets the identifier that it has in the store."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast
from uuid import UUID

from apps.actions.replays.operation_diff import Operation
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.draft import Draft, KnownEntity
from apps.pipeline.core.statement import Candidate

_Value = TypeVar("_Value")
_NAMED_FIELDS = ("candidates", "rulings", "new_entities", "new_aliases", "moved_aliases", "renamed")


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
