"""Items and what can be done with them, as the bodies of requests and answers; services.py carries it out."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from apps.pipeline.core.input_validation import BadInput, TooLarge, checked_name

MAX_OPERATIONS = 200
MAX_LABELS = 16
NAME_BYTES = 1_600  # of all labels and the key: PostgreSQL takes 2,704 bytes in a row of an index
VALUE_BYTES = 1024 * 1024
QUERY_CHARACTERS = 20_000
ANY_LABEL = "*"  # in a prefix or suffix of NamespacesBody

Name = Annotated[str, Meta(min_length=1, max_length=255)]
NamespaceLabels = Annotated[tuple[Name, ...], Meta(min_length=1, max_length=MAX_LABELS)]
LabelList = Annotated[tuple[Name, ...], Meta(max_length=MAX_LABELS)]
Limit = Annotated[int, Meta(ge=1, le=200)]
Offset = Annotated[int, Meta(ge=0, le=1_000_000)]
Moment = Annotated[datetime, Meta(extra_json_schema={"format": "date-time"})]


class ItemOrder(StrEnum):
    """The order of found items: by creation, or last written first."""

    OLDEST = "oldest"
    NEWEST = "newest"
    UPDATED = "updated"


class ItemRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request about items; an unknown field is an error."""


class GetOperationBody(ItemRequest, tag_field="operation", tag="get"):
    """Read an item."""

    namespace: NamespaceLabels
    key: Name
    refresh_ttl: bool = True


class ItemSearchBody(ItemRequest):
    """What to find below a namespace.

    `filter` maps fields of the value to what they hold: a value, an object of further fields, or operators (`$eq`,
    `$ne`, `$gt`, `$gte`, `$lt`, `$lte`). With a `query`, items with its words come before the others, best first.
    """

    namespace_prefix: LabelList = ()
    filter: dict[str, Any] = {}
    query: Annotated[str, Meta(extra_json_schema={"maxLength": QUERY_CHARACTERS})] = ""
    user_id: Name | None = None
    order: ItemOrder = ItemOrder.UPDATED
    limit: Limit = 50
    offset: Offset = 0
    refresh_ttl: bool = True


class SearchOperationBody(ItemSearchBody, tag_field="operation", tag="search"):
    """Find items below a namespace."""


class NamespacesBody(ItemRequest):
    """Which namespaces to list; a label `*` of prefix or suffix stands for any. Deeper ones are cut at `max_depth`."""

    prefix: LabelList = ()
    suffix: LabelList = ()
    max_depth: Annotated[int, Meta(ge=1, le=MAX_LABELS)] | None = None
    limit: Limit = 50
    offset: Offset = 0


class NamespacesOperationBody(NamespacesBody, tag_field="operation", tag="list_namespaces"):
    """List namespaces."""


class ItemBody(ItemRequest):
    """An item to store in place of the one that the key has.

    `user_id` says whose data it is: it is exported and erased with this end user, and deleted with the session of the
    end user that `session_id` names, which needs a `user_id`. Sensitive values are replaced as the project's policy
    says, unless its setting `redaction.items` is off. `text` holds the words by which a query finds it; without it
    these are all texts of the value, and with "" none. It expires `ttl_minutes` after the last access. With
    `expected_version`, the key must have an item of this version, or with 0 none.
    """

    namespace: NamespaceLabels
    key: Name
    value: dict[str, Any]
    user_id: Name | None = None
    session_id: Name | None = None
    text: str | None = None
    ttl_minutes: Annotated[float, Meta(gt=0, le=5_256_000)] | None = None
    expected_version: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None


class PutOperationBody(ItemBody, tag_field="operation", tag="put"):
    """Store an item in place of the one that the key has."""


class DeleteOperationBody(ItemRequest, tag_field="operation", tag="delete"):
    """Delete an item, if there is one."""

    namespace: NamespaceLabels
    key: Name


class ClearOperationBody(ItemRequest, tag_field="operation", tag="clear"):
    """Delete all items below a namespace."""

    namespace_prefix: NamespaceLabels


class PopOperationBody(ItemRequest, tag_field="operation", tag="pop"):
    """Delete the newest item of just this namespace, and return it."""

    namespace: NamespaceLabels


class ItemOperationsBody(ItemRequest):
    """Operations that are carried out together or not at all."""

    operations: Annotated[
        tuple[
            GetOperationBody
            | SearchOperationBody
            | NamespacesOperationBody
            | PutOperationBody
            | DeleteOperationBody
            | ClearOperationBody
            | PopOperationBody,
            ...,
        ],
        Meta(min_length=1, max_length=MAX_OPERATIONS),
    ]


class ItemResponse(msgspec.Struct, frozen=True, kw_only=True):
    """An item. `score` rates its words against the query of a search."""

    namespace: list[str]
    key: str
    value: dict[str, Any]
    version: int
    user_id: str | None
    session_id: str | None
    created_at: Moment
    updated_at: Moment
    expires_at: Moment | None
    score: float | None


class ItemOutcomeResponse(msgspec.Struct, frozen=True, kw_only=True):
    """What came of an operation: the item that was read, stored or taken, found items, namespaces, deleted items."""

    item: ItemResponse | None = None
    items: list[ItemResponse] | None = None
    namespaces: list[list[str]] | None = None
    deleted: int | None = None


def check_request(request: ItemRequest, *, at: str = "") -> None:
    """Raise BadInput or TooLarge for what the types leave open: names, sizes, and a session without its user."""
    for field in ("namespace", "namespace_prefix", "prefix", "suffix"):
        for place, label in enumerate(getattr(request, field, ())):
            checked_name(label, at=f"{at}/{field}/{place}")
    for field in ("key", "user_id", "session_id"):
        checked_name(getattr(request, field, None) or "", at=f"{at}/{field}")
    names = (*getattr(request, "namespace", ()), getattr(request, "key", ""))
    if sum(len(name.encode(errors="replace")) for name in names) > NAME_BYTES:
        raise TooLarge(f"is with its namespace longer than {NAME_BYTES:,} bytes", at=f"{at}/key")
    if isinstance(request, ItemSearchBody) and len(request.query) > QUERY_CHARACTERS:
        raise TooLarge(f"holds more than {QUERY_CHARACTERS:,} characters", at=f"{at}/query")
    if isinstance(request, ItemBody) and len(msgspec.json.encode(request.value)) > VALUE_BYTES:
        raise TooLarge(f"is larger than {VALUE_BYTES:,} bytes", at=f"{at}/value")
    if isinstance(request, ItemBody) and request.session_id is not None and request.user_id is None:
        raise BadInput("is required with session_id: a session belongs to an end user", at=f"{at}/user_id")
