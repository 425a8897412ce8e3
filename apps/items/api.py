"""Items of agents: values under keys and namespaces, and operations on several."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.authentication import scope_needed
from apps.api.base import ApiView, to_json
from apps.api.openapi import documented
from apps.api.problems import Code
from apps.api.schemas import Identifier, QueryParameters, ResponseBody
from apps.api.validation import read_body, read_query
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
        wanted = GetOperationBody(namespace=query.namespace, key=query.key, refresh_ttl=query.refresh_ttl)
        if (item := self.run(wanted, is_query=True).item) is None:
            raise NotFound("there is no such item")
        return Response(to_json(item))

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
        put = read_body(request, ItemBody)
        check_item_quota(project_id=self.caller.project_id)
        item = self.run(put).item
        assert item is not None  # noqa: S101  # a put returns what it stored
        return Response(to_json(item))

    @documented(
        operation="delete_item",
        summary="Delete an item",
        query=ItemPlaceQuery,
        responses={204: None},
        problems=[Code.NOT_FOUND],
    )
    def delete(self, request: Request) -> Response:
        """Delete the item of a key; nothing of it stays."""
        query = read_query(request, ItemPlaceQuery)
        if not self.run(DeleteOperationBody(namespace=query.namespace, key=query.key), is_query=True).deleted:
            raise NotFound("there is no such item")
        return Response(status=204)


class ItemSearchView(ItemsView):
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
        found = self.run(read_body(request, ItemSearchBody))
        return Response(to_json(ItemList(results=found.items or [])))


class NamespacesView(ItemsView):
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
        found = self.run(read_body(request, NamespacesBody))
        return Response(to_json(NamespaceList(results=found.namespaces or [])))


class ItemOperationsView(ItemsView):
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
        operations = read_body(request, ItemOperationsBody).operations
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
        return Response(to_json(ItemOutcomesResponse(results=outcomes)))
