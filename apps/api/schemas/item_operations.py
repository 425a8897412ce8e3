"""Schemas of POST /v1/items/batch."""

from typing import Annotated

from msgspec import Meta

from apps.api.schemas.common import Identifier, RequestBody, ResponseBody
from apps.api.schemas.items import (
    ItemBody,
    ItemResponse,
    ItemSearchBody,
    NamespaceLabels,
    NamespacesBody,
    checked_key,
    checked_namespace,
    item_response,
    namespaces_of,
    put_of,
    search_of,
)
from apps.items.operations import (
    ClearItems,
    DeleteItem,
    GetItem,
    ItemOperation,
    ItemOutcome,
    PopItem,
)

MAX_OPERATIONS = 200


class GetOperationBody(RequestBody, tag_field="operation", tag="get"):
    """Read an item."""

    namespace: NamespaceLabels
    key: Identifier
    refresh_ttl: bool = True


class SearchOperationBody(ItemSearchBody, tag_field="operation", tag="search"):
    """Find items below a namespace."""


class NamespacesOperationBody(NamespacesBody, tag_field="operation", tag="list_namespaces"):
    """List namespaces."""


class PutOperationBody(ItemBody, tag_field="operation", tag="put"):
    """Store an item in place of the one that the key has."""


class DeleteOperationBody(RequestBody, tag_field="operation", tag="delete"):
    """Delete an item, if there is one."""

    namespace: NamespaceLabels
    key: Identifier


class ClearOperationBody(RequestBody, tag_field="operation", tag="clear"):
    """Delete all items below a namespace."""

    namespace_prefix: NamespaceLabels


class PopOperationBody(RequestBody, tag_field="operation", tag="pop"):
    """Delete the newest item of just this namespace, and return it."""

    namespace: NamespaceLabels


OperationBody = (
    GetOperationBody
    | SearchOperationBody
    | NamespacesOperationBody
    | PutOperationBody
    | DeleteOperationBody
    | ClearOperationBody
    | PopOperationBody
)


class ItemOperationsBody(RequestBody):
    """Operations that are carried out together or not at all."""

    operations: Annotated[tuple[OperationBody, ...], Meta(min_length=1, max_length=MAX_OPERATIONS)]


class ItemOutcomeResponse(ResponseBody):
    """What came of an operation: the item that was read, stored or taken, found items, namespaces, deleted items."""

    item: ItemResponse | None = None
    items: list[ItemResponse] | None = None
    namespaces: list[list[str]] | None = None
    deleted: int | None = None


class ItemOutcomesResponse(ResponseBody):
    """What came of each operation, in their order."""

    results: list[ItemOutcomeResponse]


def operations_of(body: ItemOperationsBody) -> tuple[ItemOperation, ...]:
    """Return the operations of a request. Raises BadInput, TooLarge."""
    return tuple(_operation(each, at=f"/operations/{place}") for place, each in enumerate(body.operations))


def _operation(body: OperationBody, *, at: str) -> ItemOperation:
    if isinstance(body, PutOperationBody):
        return put_of(body, at=at)
    if isinstance(body, SearchOperationBody):
        return search_of(body, at=at)
    if isinstance(body, NamespacesOperationBody):
        return namespaces_of(body, at=at)
    if isinstance(body, ClearOperationBody):
        return ClearItems(namespace_prefix=checked_namespace(body.namespace_prefix, at=f"{at}/namespace_prefix"))
    namespace = checked_namespace(body.namespace, at=f"{at}/namespace")
    if isinstance(body, PopOperationBody):
        return PopItem(namespace=namespace)
    key = checked_key(namespace, body.key, at=f"{at}/key")
    if isinstance(body, GetOperationBody):
        return GetItem(namespace=namespace, key=key, refresh_ttl=body.refresh_ttl)
    return DeleteItem(namespace=namespace, key=key)


def outcome_response(outcome: ItemOutcome) -> ItemOutcomeResponse:
    """Convert what came of an operation."""
    return ItemOutcomeResponse(
        item=item_response(outcome.item) if outcome.item else None,
        items=None if outcome.items is None else [item_response(each) for each in outcome.items],
        namespaces=None if outcome.namespaces is None else [list(each) for each in outcome.namespaces],
        deleted=outcome.deleted,
    )
