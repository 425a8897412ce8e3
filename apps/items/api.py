"""Items of agents: values under keys and namespaces, and operations on several."""

from rest_framework.request import Request

from apps.api.authentication import scope_needed
from apps.api.base import ApiView
from apps.api.operations import operation
from apps.api.problems import Code
from apps.api.schemas import Identifier, QueryParameters, ResponseBody
from apps.common.errors import NotAllowed, NotFound, ProjectArchived
from apps.intake.quotas import check_item_quota
from apps.items.operations import (
    DeleteOperationBody,
    GetOperationBody,
    ItemBody,
    ItemOperationsBody,
    ItemOutcomeResponse,
    ItemRequest,
    ItemResponse,
    ItemSearchBody,
    NamespaceLabels,
    NamespacesBody,
    check_request,
)
from apps.items.services import is_read, run_item_operations
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.input_validation import BadInput

_NAMESPACE = ["users", "ana"]
_ITEM = {"namespace": _NAMESPACE, "key": "settings", "value": {"theme": "dark"}, "user_id": "ana"}


class ItemPlaceQuery(QueryParameters):
    """The place of an item; `namespace` is given once for each label."""

    namespace: NamespaceLabels
    key: Identifier


class ItemQuery(ItemPlaceQuery):
    """The place of an item; `namespace` is given once for each label. Reading one that expires lets it live on."""

    refresh_ttl: bool = True


class ItemList(ResponseBody):
    """Found items."""

    results: list[ItemResponse]


class NamespaceList(ResponseBody):
    """Namespaces with items, sorted."""

    results: list[list[str]]


class ItemOutcomesResponse(ResponseBody):
    """What came of each operation, in their order."""

    results: list[ItemOutcomeResponse]


class ItemsView(ApiView):
    """What the endpoints of items share."""

    def run(self, request: ItemRequest, *, is_query: bool = False) -> ItemOutcomeResponse:
        """Check and run one operation; the places of a query string have no slash before them. Raises BadInput."""
        try:
            check_request(request)
        except BadInput as error:
            error.at = error.at.removeprefix("/") if is_query else error.at
            raise
        return run_item_operations(project_id=self.caller.project_id, operations=[request])[0]


class ItemView(ItemsView):
    """One item."""

    @operation("read_item", summary="Read an item", problems=[Code.NOT_FOUND])
    def get(self, request: Request, query: ItemQuery) -> ItemResponse:
        """Return the item of a key."""
        wanted = GetOperationBody(namespace=query.namespace, key=query.key, refresh_ttl=query.refresh_ttl)
        if (item := self.run(wanted, is_query=True).item) is None:
            raise NotFound("there is no such item")
        return item

    @operation("put_item", summary="Store an item", problems=[Code.CONFLICT, Code.QUOTA_EXCEEDED], example=_ITEM)
    def put(self, request: Request, body: ItemBody) -> ItemResponse:
        """Store a JSON object under a namespace and a key, in place of the one that is there.

        No pipeline reads items. What the answer shows is stored: sensitive values are replaced before.
        """
        check_item_quota(project_id=self.caller.project_id)
        item = self.run(body).item
        assert item is not None  # noqa: S101  # a put returns what it stored
        return item

    @operation("delete_item", summary="Delete an item", problems=[Code.NOT_FOUND])
    def delete(self, request: Request, query: ItemPlaceQuery) -> None:
        """Delete the item of a key; nothing of it stays."""
        if not self.run(DeleteOperationBody(namespace=query.namespace, key=query.key), is_query=True).deleted:
            raise NotFound("there is no such item")


class ItemSearchView(ItemsView):
    """Search of items."""

    scopes = {"POST": Scope.READ}

    @operation(
        "search_items", summary="Search items", example={"namespace_prefix": ["users"], "filter": {"theme": "dark"}}
    )
    def post(self, request: Request, body: ItemSearchBody) -> ItemList:
        """Find items below a namespace by the fields of their values, and by words."""
        return ItemList(results=self.run(body).items or [])


class NamespacesView(ItemsView):
    """The namespaces of items."""

    scopes = {"POST": Scope.READ}

    @operation(
        "list_item_namespaces",
        summary="List the namespaces of items",
        example={"prefix": ["users", "*"], "max_depth": 2},
    )
    def post(self, request: Request, body: NamespacesBody) -> NamespaceList:
        """List the namespaces that hold items, sorted."""
        return NamespaceList(results=self.run(body).namespaces or [])


class ItemOperationsView(ItemsView):
    """Several operations on items in one request."""

    scopes = {"POST": Scope.READ}  # operations that write need more, see below

    @operation(
        "run_item_operations",
        summary="Run operations on items",
        problems=[Code.CONFLICT, Code.PROJECT_ARCHIVED, Code.QUOTA_EXCEEDED],
        example={"operations": [{"operation": "put", **_ITEM}, {"operation": "search", "namespace_prefix": ["users"]}]},
    )
    def post(self, request: Request, body: ItemOperationsBody) -> ItemOutcomesResponse:
        """Carry out operations in one transaction, all of them or none.

        Those that read (`get`, `search`, `list_namespaces`) see the items from before those that write; these need the
        scope write. Of several puts and deletions of one key the last one counts.
        """
        operations = body.operations
        for place, each in enumerate(operations):
            check_request(each, at=f"/operations/{place}")
        if not all(map(is_read, operations)):
            if not self.caller.may(Scope.WRITE):
                raise NotAllowed(scope_needed(Scope.WRITE))
            if self.caller.is_of_archived_project:
                raise ProjectArchived
        if any(isinstance(each, ItemBody) for each in operations):
            check_item_quota(project_id=self.caller.project_id)
        outcomes = run_item_operations(project_id=self.caller.project_id, operations=operations)
        return ItemOutcomesResponse(results=outcomes)
