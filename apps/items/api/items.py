"""Endpoints of items: values under keys and namespaces, and operations on several."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.authentication import scope_needed
from apps.api.problems import Code
from apps.api.viewsets import ApiViewSet, operation
from apps.common.errors import NotAllowed, NotFound, ProjectArchived
from apps.intake.quotas import check_item_quota
from apps.items.api.serializers import (
    ItemListSerializer,
    ItemOperationsSerializer,
    ItemOutcomesSerializer,
    ItemPlaceQuery,
    ItemQuery,
    ItemSearchSerializer,
    ItemSerializer,
    NamespaceListSerializer,
    NamespacesSerializer,
    NewItemSerializer,
)
from apps.items.operations import DeleteItem, GetItem, ItemOperation, ItemOutcome, PutItem, check_operation
from apps.items.services import is_read, run_item_operations
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.input_validation import BadInput

_ITEM = {"namespace": ["users", "ana"], "key": "settings", "value": {"theme": "dark"}, "user_id": "ana"}


class ItemBaseViewSet(ApiViewSet):
    """What the endpoints of items share."""

    def run(self, wanted: ItemOperation, *, is_query: bool = False) -> ItemOutcome:
        """Check and run one operation; the places of a query string have no slash before them. Raises BadInput."""
        try:
            check_operation(wanted)
        except BadInput as error:
            error.at = error.at.removeprefix("/") if is_query else error.at
            raise
        return run_item_operations(project_id=self.caller.project_id, operations=[wanted])[0]


class ItemViewSet(ItemBaseViewSet):
    """One item, by its namespace and key."""

    @operation(
        "read_item", summary="Read an item", query=ItemQuery, answers={200: ItemSerializer}, problems=[Code.NOT_FOUND]
    )
    def retrieve(self, request: Request) -> Response:
        """Return the item of a key."""
        if (item := self.run(GetItem(**self.query), is_query=True).item) is None:
            raise NotFound("there is no such item")
        return self.answer(ItemSerializer, item)

    @operation(
        "put_item",
        summary="Store an item",
        body=NewItemSerializer,
        answers={200: ItemSerializer},
        problems=[Code.CONFLICT, Code.QUOTA_EXCEEDED],
        example=_ITEM,
    )
    def update(self, request: Request) -> Response:
        """Store a JSON object under a namespace and a key, in place of the one that is there.

        No pipeline reads items. What the answer shows is stored: sensitive values are replaced before.
        """
        wanted = self.valid(NewItemSerializer)
        check_item_quota(project_id=self.caller.project_id)
        return self.answer(ItemSerializer, self.run(wanted).item)

    @operation(
        "delete_item",
        summary="Delete an item",
        query=ItemPlaceQuery,
        answers={204: None},
        problems=[Code.NOT_FOUND],
    )
    def destroy(self, request: Request) -> Response:
        """Delete the item of a key; nothing of it stays."""
        if not self.run(DeleteItem(**self.query), is_query=True).deleted:
            raise NotFound("there is no such item")
        return Response(status=204)


class ItemsViewSet(ItemBaseViewSet):
    """Many items: found, listed, and changed together."""

    scopes = {"POST": Scope.READ}  # operations that write need more, see `batch`

    @operation(
        "search_items",
        summary="Search items",
        body=ItemSearchSerializer,
        answers={200: ItemListSerializer},
        example={"namespace_prefix": ["users"], "filter": {"theme": "dark"}},
    )
    def search(self, request: Request) -> Response:
        """Find items below a namespace by the fields of their values, and by words."""
        found = self.run(self.valid(ItemSearchSerializer))
        return self.answer(ItemListSerializer, {"results": found.items or []})

    @operation(
        "list_item_namespaces",
        summary="List the namespaces of items",
        body=NamespacesSerializer,
        answers={200: NamespaceListSerializer},
        example={"prefix": ["users", "*"], "max_depth": 2},
    )
    def namespaces(self, request: Request) -> Response:
        """List the namespaces that hold items, sorted."""
        found = self.run(self.valid(NamespacesSerializer))
        return self.answer(NamespaceListSerializer, {"results": found.namespaces or []})

    @operation(
        "run_item_operations",
        summary="Run operations on items",
        body=ItemOperationsSerializer,
        answers={200: ItemOutcomesSerializer},
        problems=[Code.CONFLICT, Code.PROJECT_ARCHIVED, Code.QUOTA_EXCEEDED],
        example={"operations": [{"operation": "put", **_ITEM}, {"operation": "search", "namespace_prefix": ["users"]}]},
    )
    def batch(self, request: Request) -> Response:
        """Carry out operations in one transaction, all of them or none.

        Those that read (`get`, `search`, `list_namespaces`) see the items from before those that write; these need the
        scope write. Of several puts and deletions of one key the last one counts.
        """
        operations = self.valid(ItemOperationsSerializer)["operations"]
        for place, each in enumerate(operations):
            check_operation(each, at=f"/operations/{place}")
        if not all(map(is_read, operations)):
            if not self.caller.may(Scope.WRITE):
                raise NotAllowed(scope_needed(Scope.WRITE))
            if self.caller.is_of_archived_project:
                raise ProjectArchived
        if any(isinstance(each, PutItem) for each in operations):
            check_item_quota(project_id=self.caller.project_id)
        outcomes = run_item_operations(project_id=self.caller.project_id, operations=operations)
        return self.answer(ItemOutcomesSerializer, {"results": outcomes})
