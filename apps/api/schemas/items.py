"""Schemas of /v1/items."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from apps.api.schemas.common import (
    CONTENT_CHARACTERS,
    Identifier,
    Limit,
    Moment,
    QueryParameters,
    RequestBody,
    ResponseBody,
    checked_names,
)
from apps.items.operations import (
    ItemOrder,
    ItemRecord,
    ListNamespaces,
    Namespace,
    PutItem,
    SearchItems,
)
from apps.pipeline.core.input_validation import BadInput, TooLarge, checked_name

MAX_LABELS = 16
NAME_BYTES = 1_600  # of all labels and the key: PostgreSQL takes 2,704 bytes in a row of an index
VALUE_BYTES = 1024 * 1024
WORDS_CHARACTERS = 100_000

LabelList = Annotated[tuple[Identifier, ...], Meta(max_length=MAX_LABELS)]
NamespaceLabels = Annotated[tuple[Identifier, ...], Meta(min_length=1, max_length=MAX_LABELS)]
ItemValue = dict[str, Any]
Minutes = Annotated[float, Meta(gt=0, le=5_256_000)]
Offset = Annotated[int, Meta(ge=0, le=1_000_000)]
Depth = Annotated[int, Meta(ge=1, le=MAX_LABELS)]
ItemVersion = Annotated[int, Meta(ge=0, le=2**31 - 1)]
QueryText = Annotated[str, Meta(extra_json_schema={"maxLength": CONTENT_CHARACTERS})]


class ItemQuery(QueryParameters):
    """The place of an item; `namespace` is given once for each label. Reading one that expires lets it live on."""

    namespace: NamespaceLabels
    key: Identifier
    refresh_ttl: bool = True


class ItemPlaceQuery(QueryParameters):
    """The place of an item; `namespace` is given once for each label."""

    namespace: NamespaceLabels
    key: Identifier


class ItemBody(RequestBody):
    """An item to store in place of the one that the key has.

    `user_id` says whose data it is: it is exported and erased with this end user, and deleted with the session of the
    end user that `session_id` names, which needs a `user_id`. Sensitive values are replaced as the project's policy
    says, unless its setting `redaction.items` is off. `text` holds the words by which a query finds it; without it
    these are all texts of the value, and with "" none. It expires `ttl_minutes` after the last access. With
    `expected_version`, the key must have an item of this version, or with 0 none.
    """

    namespace: NamespaceLabels
    key: Identifier
    value: ItemValue
    user_id: Identifier | None = None
    session_id: Identifier | None = None
    text: str | None = None
    ttl_minutes: Minutes | None = None
    expected_version: ItemVersion | None = None


class ItemSearchBody(RequestBody):
    """What to find below a namespace.

    `filter` maps fields of the value to what they hold: a value, an object of further fields, or operators (`$eq`,
    `$ne`, `$gt`, `$gte`, `$lt`, `$lte`). With a `query`, items with its words come before the others, best first.
    """

    namespace_prefix: LabelList = ()
    filter: ItemValue = {}
    query: QueryText = ""
    user_id: Identifier | None = None
    order: ItemOrder = ItemOrder.UPDATED
    limit: Limit = 50
    offset: Offset = 0
    refresh_ttl: bool = True


class NamespacesBody(RequestBody):
    """Which namespaces to list; a label `*` of prefix or suffix stands for any. Deeper ones are cut at `max_depth`."""

    prefix: LabelList = ()
    suffix: LabelList = ()
    max_depth: Depth | None = None
    limit: Limit = 50
    offset: Offset = 0


class ItemResponse(ResponseBody):
    """An item. `score` rates its words against the query of a search."""

    namespace: list[str]
    key: str
    value: ItemValue
    version: int
    user_id: str | None
    session_id: str | None
    created_at: Moment
    updated_at: Moment
    expires_at: Moment | None
    score: float | None


class ItemList(ResponseBody):
    """Found items."""

    results: list[ItemResponse]


class NamespaceList(ResponseBody):
    """Namespaces with items, sorted."""

    results: list[list[str]]


def place_of(query: ItemQuery | ItemPlaceQuery) -> tuple[Namespace, str]:
    """Return namespace and key of a query string. Raises BadInput."""
    names = checked_names(query.namespace, at="namespace")
    return names, checked_key(names, query.key, at="key")


def put_of(body: ItemBody, *, at: str = "") -> PutItem:
    """Return the item to store. Raises BadInput, TooLarge."""
    namespace = checked_namespace(body.namespace, at=f"{at}/namespace")
    if len(msgspec.json.encode(body.value)) > VALUE_BYTES:
        raise TooLarge(f"is larger than {VALUE_BYTES:,} bytes", at=f"{at}/value")
    if body.session_id is not None and body.user_id is None:
        raise BadInput("is required with session_id: a session belongs to an end user", at=f"{at}/user_id")
    words = " ".join(_texts(body.value)) if body.text is None else body.text
    return PutItem(
        namespace=namespace,
        key=checked_key(namespace, body.key, at=f"{at}/key"),
        value=body.value,
        user_id=_user_id(body.user_id, at=f"{at}/user_id"),
        session_id=checked_name(body.session_id or "", at=f"{at}/session_id"),
        words=words[:WORDS_CHARACTERS],
        ttl_minutes=body.ttl_minutes,
        expected_version=body.expected_version,
    )


def search_of(body: ItemSearchBody, *, at: str = "") -> SearchItems:
    """Return what to find. Raises BadInput."""
    if len(body.query) > CONTENT_CHARACTERS:
        raise TooLarge(f"holds more than {CONTENT_CHARACTERS:,} characters", at=f"{at}/query")
    return SearchItems(
        namespace_prefix=checked_namespace(body.namespace_prefix, at=f"{at}/namespace_prefix"),
        filter=body.filter,
        query=body.query,
        user_id=_user_id(body.user_id, at=f"{at}/user_id"),
        order=body.order,
        limit=body.limit,
        offset=body.offset,
        refresh_ttl=body.refresh_ttl,
    )


def namespaces_of(body: NamespacesBody, *, at: str = "") -> ListNamespaces:
    """Return which namespaces to list. Raises BadInput."""
    return ListNamespaces(
        prefix=checked_namespace(body.prefix, at=f"{at}/prefix"),
        suffix=checked_namespace(body.suffix, at=f"{at}/suffix"),
        max_depth=body.max_depth,
        limit=body.limit,
        offset=body.offset,
    )


def checked_namespace(labels: tuple[str, ...], *, at: str) -> Namespace:
    """Return a namespace. Raises BadInput with the pointer of the first label that is no name."""
    return checked_names(labels, at=at)


def checked_key(namespace: Namespace, key: str, *, at: str) -> str:
    """Return the key of an item. Raises BadInput for what is no name, TooLarge if the index could not hold it."""
    if sum(len(name.encode(errors="replace")) for name in (*namespace, key)) > NAME_BYTES:
        raise TooLarge(f"is with its namespace longer than {NAME_BYTES:,} bytes", at=at)
    return checked_name(key, at=at)


def _user_id(user_id: str | None, *, at: str) -> str | None:
    return None if user_id is None else checked_name(user_id, at=at)


def _texts(value: Any) -> list[str]:
    """Return all texts within a value, whose nesting the parser has limited."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict | list):
        return [text for each in (value.values() if isinstance(value, dict) else value) for text in _texts(each)]
    return []


def item_response(item: ItemRecord) -> ItemResponse:
    """Convert an item."""
    return ItemResponse(
        namespace=list(item.namespace),
        key=item.key,
        value=item.value,
        version=item.version,
        user_id=item.user_id,
        session_id=item.session_id,
        created_at=item.created_at,
        updated_at=item.updated_at,
        expires_at=item.expires_at,
        score=item.score,
    )
