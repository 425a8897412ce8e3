"""Identifiers of a loaded project: no row may have the identifier that it had, as the original may be next to it.

A project that was created with the identifier of the exported one, in another installation, keeps all identifiers.
"""

import hashlib
import re
from collections.abc import Collection
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.db.models import Model

_IDENTIFIER = re.compile(r"(?P<before>[a-z]+:)?(?P<prefix>[a-z]{3}_)?(?P<id>[0-9a-f]{32}|[0-9a-f-]{36})")
# Fields in JSON that hold words of people and callers: what looks like an identifier there is none of ours.
_WORDS = frozenset(
    {"content", "context", "evidence", "external_id", "further_sources", "literal", "metadata", "quote", "text"}
)


class IdentifierMap:
    """Gives new identifiers for those of an export; others are left as they are."""

    def __init__(self, *, project_id: UUID) -> None:
        self._project_id = project_id
        self._mask = 0
        self._new: dict[UUID, UUID] = {}
        self._models: dict[UUID, set[type[Model]]] = {}  # of which the export holds a row with this identifier

    def begin(self, *, exported: str) -> None:
        """Tell which project was exported: if it is this one, its rows keep their identifiers."""
        # The last bits of a UUIDv7 are random; the others, which order rows by their creation, stay.
        digest = hashlib.blake2b(self._project_id.bytes, digest_size=4).digest()
        self._mask = 0 if exported == str(self._project_id) else int.from_bytes(digest, "big") or 1

    def add(self, identifier: UUID, *, model: type[Model], new: UUID | None = None) -> None:
        """Let a row of the export have a new identifier, which is derived from the former one if none is given."""
        other = UUID(int=identifier.int ^ self._mask)
        self._new[identifier] = new or self._new.get(identifier, other)
        self._models.setdefault(identifier, set()).add(model)

    def forget(self, former: Collection[UUID]) -> None:
        """Forget the identifiers of rows that nothing else refers to."""
        for identifier in former:
            self._new.pop(identifier, None)
            self._models.pop(identifier, None)

    def holds(self, identifier: UUID, *, model: type[Model]) -> bool:
        """Return True if the export holds a row of this model with the identifier."""
        return model in self._models.get(identifier, ())

    def new(self, identifier: UUID) -> UUID:
        """Return the new identifier of a row, or the given one for anything else."""
        return self._new.get(identifier, identifier)

    def text(self, text: str) -> str:
        """Return a text that is an identifier, such as "mem_0192…" or "trace:trc_0192…", with the new one."""
        if match := _IDENTIFIER.fullmatch(text):
            with suppress(ValueError, KeyError):
                new = self._new[UUID(match["id"])]
                return f"{match['before'] or ''}{match['prefix'] or ''}{new.hex if len(match['id']) == 32 else new}"
        return text

    def json(self, value: Any) -> Any:
        """Return JSON with new identifiers in place of the former ones, save in words of people and callers."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.json(each) for each in value]
        if isinstance(value, dict):
            return {self.text(key): each if key in _WORDS else self.json(each) for key, each in value.items()}
        return value
