"""Who has done something, as answers of the API tell it."""

from enum import StrEnum
from typing import Any

from rest_framework import serializers

from apps.api.serializers import ApiSerializer, EnumField
from apps.pipeline.core.identifiers import BadIdentifier, Prefix, parse, show


class ActorKind(StrEnum):
    """What kind of actor has done something."""

    PERSON = "person"
    KEY = "key"
    TRACE = "trace"
    COMMAND = "command"
    SYSTEM = "system"
    UNKNOWN = "unknown"  # of a loaded project, whose file may name any


_PREFIXES = {ActorKind.KEY: Prefix.API_KEY, ActorKind.TRACE: Prefix.TRACE}


class ActorSerializer(ApiSerializer):
    """Who has done something: a person in the console, a key, a trace, a management command, or the server by itself.

    `id` is that of the key (`key_…`) or trace (`trc_…`), or the number of the person (`elsewhere-7` if loaded);
    null for the others.
    """

    kind = EnumField(ActorKind)
    id = serializers.CharField(allow_null=True)

    def to_representation(self, stored: str) -> dict[str, Any] | None:  # type: ignore[override]  # a field may be null
        """Show an actor as history and ledger name it, such as "key:0192…"; None where nobody has done it yet."""
        if not stored:
            return None
        kind, _, name = stored.partition(":")
        try:
            prefix = _PREFIXES.get(ActorKind(kind))
            return {"kind": kind, "id": show(prefix, parse(prefix, name)) if prefix else name or None}
        except (ValueError, BadIdentifier):
            return {"kind": ActorKind.UNKNOWN.value, "id": stored}
