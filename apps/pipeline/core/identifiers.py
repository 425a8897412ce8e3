"""Identifiers: UUIDv7, shown to people with a prefix for the kind of thing that they identify."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid5

from uuid_utils import compat

# The root of every derived identifier; changing it would orphan every end user.
_NAMESPACE = UUID("6d656d70-6c61-5466-8f72-6d0000000001")


class Prefix(StrEnum):
    """The kind of thing that an identifier identifies."""

    PROJECT = "prj"
    API_KEY = "key"
    END_USER = "usr"
    SESSION = "ses"
    TURN = "trn"
    TRACE = "trc"
    CONFIGURATION = "cfg"
    MEMORY = "mem"
    LINK = "lnk"
    ENTITY = "ent"
    ERASURE = "era"
    LEDGER_ENTRY = "led"
    ROLLBACK = "rbk"
    REPLAY = "rpl"
    IMPORT = "imp"
    ALERT = "alr"
    EVENT = "evt"
    WEBHOOK = "whk"
    WEBHOOK_DELIVERY = "dlv"
    EVALUATION_SAMPLE = "smp"
    EVALUATION_ITEM = "itm"


class BadIdentifier(ValueError):
    """The text is not an identifier of the expected kind."""


def new_id() -> UUID:
    """Return a new UUIDv7: unique without coordination, sorted by time of creation."""
    return compat.uuid7()


def end_user_id(*, project_id: UUID, user_id: str) -> UUID:
    """Derive an end user's identifier from project and the caller's own id (UUIDv5), so no look-up is needed."""
    return uuid5(_NAMESPACE, f"{project_id}\x1f{user_id}")


def session_id(*, end_user_id: UUID, session_id: str) -> UUID:
    """Derive a session's identifier from end user and the caller's own id (UUIDv5)."""
    return uuid5(end_user_id, session_id)


def show(prefix: Prefix, identifier: UUID) -> str:
    """Write an identifier as people and agents see it, such as mem_0192…"""
    return f"{prefix}_{identifier.hex}"


def parse(prefix: Prefix, text: str) -> UUID:
    """Read an identifier of one kind, with or without its prefix.

    Raises BadIdentifier.
    """
    try:
        return UUID(text.removeprefix(f"{prefix}_"))
    except ValueError as error:
        raise BadIdentifier(f"{text!r} is no {prefix}_ identifier") from error


_UUID_LENGTH = 36

# What the fields of recorded values, details of stages, operations of plans and selections refer to.
_FIELDS: Mapping[Prefix, tuple[str, ...]] = {
    Prefix.MEMORY: (
        *("memory", "memories", "memory_id", "memory_ids", "held_by", "by", "to", "closed", "superseded_by"),
        *("superseded_by_id", "same_as", "replaces", "contradicts", "from_id", "to_id", "links", "known_memory_ids"),
    ),
    Prefix.ENTITY: ("entity", "entity_id", "subject_id", "merged_into_id", "into", "from"),
    Prefix.TURN: ("turn", "turns", "turn_id", "turn_ids", "source_turn_ids"),
    Prefix.TRACE: ("trace", "trace_id", "trace_ids", "traces"),
    Prefix.SESSION: ("session", "session_id"),
    Prefix.END_USER: ("end_user", "end_user_id"),
    Prefix.API_KEY: ("api_key_id", "key_id"),
    Prefix.ERASURE: ("erasure",),
    Prefix.CONFIGURATION: ("configuration_id",),
    Prefix.REPLAY: ("replay_id",),
    Prefix.ROLLBACK: ("rollback_id",),
}
_PREFIXES = {name: prefix for prefix, names in _FIELDS.items() for name in names}


def with_prefixes(value: Any, *, field: str = "") -> Any:
    """Return JSON in which UUIDs of known fields have their prefix; all else stays as it is."""
    if isinstance(value, Mapping):
        # The values below `id`, and below keys that are identifiers, belong to the same field.
        inner = {name: field if name == "id" or len(name) == _UUID_LENGTH else name for name in value}
        return {_shown(name, field): with_prefixes(each, field=inner[name]) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [with_prefixes(each, field=field) for each in value]
    return _shown(value, field)


def _shown(value: Any, field: str) -> Any:
    prefix = _PREFIXES.get(field)
    if prefix is None or not isinstance(value, str | UUID) or len(str(value)) != _UUID_LENGTH:
        return value
    try:
        return show(prefix, UUID(str(value)))
    except ValueError:  # a text of this length
        return value
