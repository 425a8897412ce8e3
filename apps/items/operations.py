"""What can be done with items, as values; apps/items/services.py carries it out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

Namespace = tuple[str, ...]
ANY_LABEL = "*"  # in a prefix or suffix of ListNamespaces


class ItemOrder(StrEnum):
    """The order of found items: by creation, or last written first."""

    OLDEST = "oldest"
    NEWEST = "newest"
    UPDATED = "updated"


@dataclass(frozen=True, slots=True)
class GetItem:
    """Read the item of a key."""

    namespace: Namespace
    key: str
    refresh_ttl: bool = True


@dataclass(frozen=True, slots=True)
class SearchItems:
    """Find items below a namespace.

    `filter` holds conditions on values. With a `query`, items with its words come first, best first.
    """

    namespace_prefix: Namespace = ()
    filter: Mapping[str, Any] = field(default_factory=dict)
    query: str = ""
    user_id: str | None = None
    order: ItemOrder = ItemOrder.UPDATED
    limit: int = 50
    offset: int = 0
    refresh_ttl: bool = True


@dataclass(frozen=True, slots=True)
class ListNamespaces:
    """List namespaces with items, sorted; those deeper than `max_depth` labels are cut."""

    prefix: Namespace = ()
    suffix: Namespace = ()
    max_depth: int | None = None
    limit: int = 50
    offset: int = 0


@dataclass(frozen=True, slots=True)
class PutItem:
    """Store an item, in place of the one that the key has.

    It is deleted with the session of the end user that it names. `expected_version` is that of the item to replace, 0
    for a key without one, None for any.
    """

    namespace: Namespace
    key: str
    value: Mapping[str, Any]
    user_id: str | None = None
    session_id: str = ""
    words: str = ""
    ttl_minutes: float | None = None
    expected_version: int | None = None


@dataclass(frozen=True, slots=True)
class DeleteItem:
    """Delete the item of a key."""

    namespace: Namespace
    key: str


@dataclass(frozen=True, slots=True)
class ClearItems:
    """Delete all items below a namespace."""

    namespace_prefix: Namespace


@dataclass(frozen=True, slots=True)
class PopItem:
    """Delete the newest item of just this namespace, and return it."""

    namespace: Namespace


ReadOperation = GetItem | SearchItems | ListNamespaces
WriteOperation = PutItem | DeleteItem | ClearItems | PopItem
ItemOperation = ReadOperation | WriteOperation


@dataclass(frozen=True, slots=True)
class ItemRecord:
    """An item as it is read; `score` rates its words against the query of a search."""

    namespace: Namespace
    key: str
    value: dict[str, Any]
    version: int
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None
    user_id: str | None = None
    session_id: str | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """What came of an operation."""

    item: ItemRecord | None = None
    items: tuple[ItemRecord, ...] | None = None
    namespaces: tuple[Namespace, ...] | None = None
    deleted: int | None = None
