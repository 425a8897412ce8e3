"""Views of /v1/items: JSON that callers keep by namespace and key."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.actions.errors import NotAllowed, NotFound, ProjectArchived
from apps.actions.items import run_item_operations
from apps.api.openapi import documented
from apps.api.permissions import scope_needed
from apps.api.problems import Code
from apps.api.schemas.item_operations import (
    ItemOperationsBody,
    ItemOutcomesResponse,
    operations_of,
    outcome_response,
)
from apps.api.schemas.items import (
    ItemBody,
    ItemList,
    ItemPlaceQuery,
    ItemQuery,
    ItemResponse,
    ItemSearchBody,
    NamespaceList,
    NamespacesBody,
    item_response,
    namespaces_of,
    place_of,
    put_of,
    search_of,
)
from apps.api.validation import read_body, read_query
from apps.api.views.base import ApiView, to_json
from apps.intake.quotas import check_item_quota
from apps.items.operations import (
    DeleteItem,
    GetItem,
    ItemOperation,
    ItemOutcome,
    ListNamespaces,
    PutItem,
    SearchItems,
)
from apps.pipeline.core.enums import Scope

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
