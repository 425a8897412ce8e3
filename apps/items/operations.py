"""What can be done with items; services.py carries it out."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from apps.items.models import StoredItem
from apps.pipeline.core.input_validation import BadInput, TooLarge

MAX_OPERATIONS = 200
MAX_LABELS = 16
NAME_BYTES = 1_600  # of all labels and the key: PostgreSQL takes 2,704 bytes in a row of an index
VALUE_BYTES = 1024 * 1024
QUERY_CHARACTERS = 20_000
ANY_LABEL = "*"  # in a prefix or suffix of ListNamespaces

Labels = tuple[str, ...]


class ItemOrder(StrEnum):
    """The order of found items: by creation, or last written first."""

    OLDEST = "oldest"
    NEWEST = "newest"
    UPDATED = "updated"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemOperation:
    """One operation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GetItem(ItemOperation):
    """Read an item; one that expires lives on with `refresh_ttl`."""

    namespace: Labels
    key: str
    refresh_ttl: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchItems(ItemOperation):
    """Find items below a namespace by fields of their values, and by words."""

    namespace_prefix: Labels = ()
    filter: Mapping[str, Any] = field(default_factory=dict)
    query: str = ""
    user_id: str | None = None
    order: ItemOrder = ItemOrder.UPDATED
    limit: int = 50
    offset: int = 0
    refresh_ttl: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ListNamespaces(ItemOperation):
    """List namespaces with items."""

    prefix: Labels = ()
    suffix: Labels = ()
    max_depth: int | None = None
    limit: int = 50
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PutItem(ItemOperation):
    """Store an item in place of the one that the key has."""

    namespace: Labels
    key: str
    value: Mapping[str, Any]
    user_id: str | None = None
    session_id: str | None = None
    text: str | None = None
    ttl_minutes: float | None = None
    expected_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteItem(ItemOperation):
    """Delete an item, if there is one."""

    namespace: Labels
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearItems(ItemOperation):
    """Delete all items below a namespace."""

    namespace_prefix: Labels


@dataclass(frozen=True, slots=True, kw_only=True)
class PopItem(ItemOperation):
    """Delete the newest item of just this namespace, and return it."""

    namespace: Labels


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemOutcome:
    """What came of an operation: the item that was read, stored or taken, found items, namespaces, deleted items."""

    item: StoredItem | None = None
    items: list[StoredItem] | None = None
    namespaces: list[list[str]] | None = None
    deleted: int | None = None


def check_operation(operation: ItemOperation, *, at: str = "") -> None:
    """Raise TooLarge for names, words and values that are too long, BadInput for a session without its user."""
    names = (*getattr(operation, "namespace", ()), getattr(operation, "key", ""))
    if sum(len(name.encode(errors="replace")) for name in names) > NAME_BYTES:
        raise TooLarge(f"is with its namespace longer than {NAME_BYTES:,} bytes", at=f"{at}/key")
    if isinstance(operation, SearchItems) and len(operation.query) > QUERY_CHARACTERS:
        raise TooLarge(f"holds more than {QUERY_CHARACTERS:,} characters", at=f"{at}/query")
    if isinstance(operation, PutItem):
        if len(json.dumps(operation.value, ensure_ascii=False, separators=(",", ":")).encode()) > VALUE_BYTES:
            raise TooLarge(f"is larger than {VALUE_BYTES:,} bytes", at=f"{at}/value")
        if operation.session_id is not None and operation.user_id is None:
            raise BadInput("is required with session_id: a session belongs to an end user", at=f"{at}/user_id")
