"""Items of agents: values under keys and namespaces, and operations on several."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.authentication import scope_needed
from apps.api.base import ApiView, to_json
from apps.api.openapi import documented
from apps.api.problems import Code
from apps.api.schemas import (
    CONTENT_CHARACTERS,
    Identifier,
    Limit,
    Moment,
    QueryParameters,
    RequestBody,
    ResponseBody,
    checked_names,
)
from apps.api.validation import read_body, read_query
from apps.common.errors import NotAllowed, NotFound, ProjectArchived
from apps.intake.quotas import check_item_quota
from apps.items.operations import (
    ClearItems,
    DeleteItem,
    GetItem,
    ItemOperation,
    ItemOrder,
    ItemOutcome,
    ItemRecord,
    ListNamespaces,
    Namespace,
    PopItem,
    PutItem,
    SearchItems,
)
from apps.items.services import run_item_operations
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.input_validation import BadInput, TooLarge, checked_name

MAX_OPERATIONS = 200


MAX_LABELS = 16

NamespaceLabels = Annotated[tuple[Identifier, ...], Meta(min_length=1, max_length=MAX_LABELS)]


class GetOperationBody(RequestBody, tag_field="operation", tag="get"):
    """Read an item."""

    namespace: NamespaceLabels
    key: Identifier
    refresh_ttl: bool = True


LabelList = Annotated[tuple[Identifier, ...], Meta(max_length=MAX_LABELS)]

ItemValue = dict[str, Any]

QueryText = Annotated[str, Meta(extra_json_schema={"maxLength": CONTENT_CHARACTERS})]

Offset = Annotated[int, Meta(ge=0, le=1_000_000)]


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


class SearchOperationBody(ItemSearchBody, tag_field="operation", tag="search"):
    """Find items below a namespace."""


Depth = Annotated[int, Meta(ge=1, le=MAX_LABELS)]


class NamespacesBody(RequestBody):
    """Which namespaces to list; a label `*` of prefix or suffix stands for any. Deeper ones are cut at `max_depth`."""

    prefix: LabelList = ()
    suffix: LabelList = ()
    max_depth: Depth | None = None
    limit: Limit = 50
    offset: Offset = 0


class NamespacesOperationBody(NamespacesBody, tag_field="operation", tag="list_namespaces"):
    """List namespaces."""


Minutes = Annotated[float, Meta(gt=0, le=5_256_000)]

ItemVersion = Annotated[int, Meta(ge=0, le=2**31 - 1)]


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


NAME_BYTES = 1_600  # of all labels and the key: PostgreSQL takes 2,704 bytes in a row of an index
VALUE_BYTES = 1024 * 1024
WORDS_CHARACTERS = 100_000


class ItemQuery(QueryParameters):
    """The place of an item; `namespace` is given once for each label. Reading one that expires lets it live on."""

    namespace: NamespaceLabels
    key: Identifier
    refresh_ttl: bool = True


class ItemPlaceQuery(QueryParameters):
    """The place of an item; `namespace` is given once for each label."""

    namespace: NamespaceLabels
    key: Identifier


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


_NAMESPACE = ["users", "ana"]
_ITEM = {"namespace": _NAMESPACE, "key": "settings", "value": {"theme": "dark"}, "user_id": "ana"}


class ItemView(ApiView):
    """One item."""

    @documented(
        operation="read_item",
        summary="Read an item",
        query=ItemQuery,
        responses={200: ItemResponse},
        problems=[Code.NOT_FOUND],
    )
    def get(self, request: Request) -> Response:
        """Return the item of a key."""
        query = read_query(request, ItemQuery)
        namespace, key = place_of(query)
        outcome = self._run(GetItem(namespace=namespace, key=key, refresh_ttl=query.refresh_ttl))
        if outcome.item is None:
            raise NotFound("there is no such item")
        return Response(to_json(item_response(outcome.item)))

    @documented(
        operation="put_item",
        summary="Store an item",
        body=ItemBody,
        responses={200: ItemResponse},
        problems=[Code.CONFLICT, Code.QUOTA_EXCEEDED],
        example=_ITEM,
    )
    def put(self, request: Request) -> Response:
        """Store a JSON object under a namespace and a key, in place of the one that is there.

        No pipeline reads items. What the answer shows is stored: sensitive values are replaced before.
        """
        put = put_of(read_body(request, ItemBody))
        check_item_quota(project_id=self.caller.project_id)
        outcome = self._run(put)
        assert outcome.item is not None  # noqa: S101  # a put returns what it stored
        return Response(to_json(item_response(outcome.item)))

    @documented(
        operation="delete_item",
        summary="Delete an item",
        query=ItemPlaceQuery,
        responses={204: None},
        problems=[Code.NOT_FOUND],
    )
    def delete(self, request: Request) -> Response:
        """Delete the item of a key; nothing of it stays."""
        namespace, key = place_of(read_query(request, ItemPlaceQuery))
        if not self._run(DeleteItem(namespace=namespace, key=key)).deleted:
            raise NotFound("there is no such item")
        return Response(status=204)

    def _run(self, operation: ItemOperation) -> ItemOutcome:
        return run_item_operations(project_id=self.caller.project_id, operations=[operation])[0]


class ItemSearchView(ApiView):
    """Search of items."""

    scopes = {"POST": Scope.READ}

    @documented(
        operation="search_items",
        summary="Search items",
        body=ItemSearchBody,
        responses={200: ItemList},
        example={"namespace_prefix": ["users"], "filter": {"theme": "dark"}},
    )
    def post(self, request: Request) -> Response:
        """Find items below a namespace by the fields of their values, and by words."""
        wanted = search_of(read_body(request, ItemSearchBody))
        (outcome,) = run_item_operations(project_id=self.caller.project_id, operations=[wanted])
        return Response(to_json(ItemList(results=[item_response(each) for each in outcome.items or ()])))


class NamespacesView(ApiView):
    """The namespaces of items."""

    scopes = {"POST": Scope.READ}

    @documented(
        operation="list_item_namespaces",
        summary="List the namespaces of items",
        body=NamespacesBody,
        responses={200: NamespaceList},
        example={"prefix": ["users", "*"], "max_depth": 2},
    )
    def post(self, request: Request) -> Response:
        """List the namespaces that hold items, sorted."""
        wanted = namespaces_of(read_body(request, NamespacesBody))
        (outcome,) = run_item_operations(project_id=self.caller.project_id, operations=[wanted])
        return Response(to_json(NamespaceList(results=[list(each) for each in outcome.namespaces or ()])))


class ItemOperationsView(ApiView):
    """Several operations on items in one request."""

    scopes = {"POST": Scope.READ}  # operations that write need more, see below

    @documented(
        operation="run_item_operations",
        summary="Run operations on items",
        body=ItemOperationsBody,
        responses={200: ItemOutcomesResponse},
        problems=[Code.CONFLICT, Code.PROJECT_ARCHIVED, Code.QUOTA_EXCEEDED],
        example={"operations": [{"operation": "put", **_ITEM}, {"operation": "search", "namespace_prefix": ["users"]}]},
    )
    def post(self, request: Request) -> Response:
        """Carry out operations in one transaction, all of them or none.

        Those that read (`get`, `search`, `list_namespaces`) see the items from before those that write; these need the
        scope write. Of several puts and deletions of one key the last one counts.
        """
        operations = operations_of(read_body(request, ItemOperationsBody))
        if not all(isinstance(each, GetItem | SearchItems | ListNamespaces) for each in operations):
            self._check_may_write()
        if any(isinstance(each, PutItem) for each in operations):
            check_item_quota(project_id=self.caller.project_id)
        outcomes = run_item_operations(project_id=self.caller.project_id, operations=operations)
        return Response(to_json(ItemOutcomesResponse(results=[outcome_response(each) for each in outcomes])))

    def _check_may_write(self) -> None:
        if not self.caller.may(Scope.WRITE):
            raise NotAllowed(scope_needed(Scope.WRITE))
        if self.caller.is_of_archived_project:
            raise ProjectArchived
