"""Identifiers within recorded JSON, as people and callers see them: with the prefix of what they identify."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from apps.pipeline.core.identifiers import Prefix, show

_UUID_LENGTH = 36

# What the fields of recorded values, details of stages and operations of plans refer to.
_FIELDS: Mapping[Prefix, tuple[str, ...]] = {
    Prefix.MEMORY: (
        *("memory", "memories", "memory_id", "memory_ids", "held_by", "by", "to", "closed", "superseded_by"),
        *("superseded_by_id", "same_as", "replaces", "contradicts", "from_id", "to_id", "links", "known_memory_ids"),
    ),
    Prefix.ENTITY: ("entity", "entity_id", "subject_id", "merged_into_id", "into", "from"),
    Prefix.TURN: ("turn", "turns", "turn_id", "turn_ids", "source_turn_ids"),
    Prefix.TRACE: ("trace", "trace_id", "traces"),
    Prefix.SESSION: ("session", "session_id"),
    Prefix.END_USER: ("end_user", "end_user_id"),
    Prefix.API_KEY: ("api_key_id", "key_id"),
    Prefix.ERASURE: ("erasure",),
    Prefix.ROLLBACK: ("rollback_id",),
}
_PREFIXES = {name: prefix for prefix, names in _FIELDS.items() for name in names}


def with_prefixes(value: Any, *, field: str = "") -> Any:
    """Return JSON in which UUIDs of known fields have their prefix; all else stays as it is."""
    if isinstance(value, Mapping):
        return {_shown(name, field): with_prefixes(each, field=_inner(name, field)) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [with_prefixes(each, field=field) for each in value]
    return _shown(value, field)


def _inner(name: str, field: str) -> str:
    """Return the field that the values below a name belong to: `id`, and keys that are identifiers, go on with it."""
    return field if name == "id" or len(name) == _UUID_LENGTH else name


def _shown(value: Any, field: str) -> Any:
    prefix = _PREFIXES.get(field)
    if prefix is None or not isinstance(value, str | UUID) or len(str(value)) != _UUID_LENGTH:
        return value
    try:
        return show(prefix, UUID(str(value)))
    except ValueError:  # a text of this length
        return value
