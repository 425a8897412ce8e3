"""Endpoints of items: values under keys and namespaces, and operations on several."""

import json
from collections.abc import Mapping
from typing import Any

from drf_spectacular.drainage import set_override
from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.authentication import scope_needed
from apps.api.problems import Code
from apps.api.serializers import (
    OPTIONAL,
    ApiModelSerializer,
    ApiSerializer,
    EnumField,
    NameField,
    NullIfBlankField,
    QuerySerializer,
    validated,
)
from apps.api.viewsets import ApiViewSet, operation
from apps.common.errors import NotAllowed, NotFound, ProjectArchived
from apps.intake.quotas import check_item_quota
from apps.items.models import StoredItem
from apps.items.services import READS, ItemOrder, Operation, Outcome, run_item_operations
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.input_validation import TooLarge

MAX_OPERATIONS = 200
MAX_LABELS = 16
NAME_BYTES = 1_600  # of all labels and the key: PostgreSQL takes 2,704 bytes in a row of an index
VALUE_BYTES = 1024 * 1024
QUERY_CHARACTERS = 20_000
MAX_MINUTES = 5_256_000  # ten years
_ITEM = {"namespace": ["users", "ana"], "key": "settings", "value": {"theme": "dark"}, "user_id": "ana"}


class LabelsField(serializers.ListField):
    """The labels of a namespace, or of a part of one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(child=NameField(), max_length=MAX_LABELS, **options)


@extend_schema_field({"type": "string", "maxLength": QUERY_CHARACTERS})
class WordsField(serializers.CharField):
    """Words to look for; too many are refused with a code of their own."""


@extend_schema_field({"type": "number", "exclusiveMinimum": 0, "maximum": MAX_MINUTES})
class MinutesField(serializers.FloatField):
    """More than no minutes, at most ten years."""

    def to_internal_value(self, data: Any) -> float:
        """Return the minutes. Raises ValidationError."""
        minutes = super().to_internal_value(data)
        if not 0 < minutes <= MAX_MINUTES:
            raise ValidationError(f"must be more than 0 and at most {MAX_MINUTES:,}")
        return minutes


class ItemPlaceQuery(QuerySerializer):
    """The place of an item; `namespace` is given once for each label."""

    namespace = LabelsField(min_length=1)
    key = NameField()


class ItemQuery(ItemPlaceQuery):
    """The place of an item; `namespace` is given once for each label. Reading one that expires lets it live on."""

    refresh_ttl = serializers.BooleanField(default=True)


class ItemSearchSerializer(ApiSerializer):
    """What to find below a namespace.

    `filter` maps fields of the value to what they hold: a value, an object of further fields, or operators (`$eq`,
    `$ne`, `$gt`, `$gte`, `$lt`, `$lte`). With a `query`, items with its words come before the others, best first.
    """

    namespace_prefix = LabelsField(default=list)
    filter = serializers.DictField(default=dict)
    query = WordsField(allow_blank=True, default="")
    user_id = NameField(**OPTIONAL)
    order = EnumField(ItemOrder, default=ItemOrder.UPDATED)
    limit = serializers.IntegerField(min_value=1, max_value=200, default=50)
    offset = serializers.IntegerField(min_value=0, max_value=1_000_000, default=0)
    refresh_ttl = serializers.BooleanField(default=True)


class NamespacesSerializer(ApiSerializer):
    """Which namespaces to list; a label `*` of prefix or suffix stands for any. Deeper ones are cut at `max_depth`."""

    prefix = LabelsField(default=list)
    suffix = LabelsField(default=list)
    max_depth = serializers.IntegerField(min_value=1, max_value=MAX_LABELS, **OPTIONAL)
    limit = serializers.IntegerField(min_value=1, max_value=200, default=50)
    offset = serializers.IntegerField(min_value=0, max_value=1_000_000, default=0)


class ItemBodySerializer(ApiSerializer):
    """An item to store in place of the one that the key has.

    `user_id` says whose data it is: it is exported and erased with this end user, and deleted with the session of the
    end user that `session_id` names, which needs a `user_id`. Sensitive values are replaced as the project's policy
    says, unless its setting `redaction.items` is off. `text` holds the words by which a query finds it; without it
    these are all texts of the value, and with "" none. It expires `ttl_minutes` after the last access. With
    `expected_version`, the key must have an item of this version, or with 0 none.
    """

    namespace = LabelsField(min_length=1)
    key = NameField()
    value = serializers.DictField()
    user_id = NameField(**OPTIONAL)
    session_id = NameField(**OPTIONAL)
    text = serializers.CharField(allow_blank=True, **OPTIONAL)
    ttl_minutes = MinutesField(**OPTIONAL)
    expected_version = serializers.IntegerField(min_value=0, max_value=2**31 - 1, **OPTIONAL)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Return the fields. Raises ValidationError for a session without its user."""
        if attrs["session_id"] is not None and attrs["user_id"] is None:
            raise ValidationError({"user_id": ["is required with session_id: a session belongs to an end user"]})
        return attrs


class OperationNameField(serializers.CharField):
    """The name of one operation, described as a constant."""

    def __init__(self, name: str) -> None:
        super().__init__()
        set_override(self, "field", {"type": "string", "const": name})


class GetOperationSerializer(ApiSerializer):
    """Read an item."""

    operation = OperationNameField("get")
    namespace = LabelsField(min_length=1)
    key = NameField()
    refresh_ttl = serializers.BooleanField(default=True)


class SearchOperationSerializer(ItemSearchSerializer):
    """Find items below a namespace."""

    operation = OperationNameField("search")


class NamespacesOperationSerializer(NamespacesSerializer):
    """List namespaces."""

    operation = OperationNameField("list_namespaces")


class PutOperationSerializer(ItemBodySerializer):
    """Store an item in place of the one that the key has."""

    operation = OperationNameField("put")


class DeleteOperationSerializer(ApiSerializer):
    """Delete an item, if there is one."""

    operation = OperationNameField("delete")
    namespace = LabelsField(min_length=1)
    key = NameField()


class ClearOperationSerializer(ApiSerializer):
    """Delete all items below a namespace."""

    operation = OperationNameField("clear")
    namespace_prefix = LabelsField(min_length=1)


class PopOperationSerializer(ApiSerializer):
    """Delete the newest item of just this namespace, and return it."""

    operation = OperationNameField("pop")
    namespace = LabelsField(min_length=1)


class OperationField(serializers.Field[Any, Any, Any, Any]):
    """One operation, as its `operation` says."""

    kinds: dict[str, type[ApiSerializer]] = {
        "get": GetOperationSerializer,
        "search": SearchOperationSerializer,
        "list_namespaces": NamespacesOperationSerializer,
        "put": PutOperationSerializer,
        "delete": DeleteOperationSerializer,
        "clear": ClearOperationSerializer,
        "pop": PopOperationSerializer,
    }

    def to_internal_value(self, data: Any) -> Operation:
        """Return the operation. Raises ValidationError."""
        if not isinstance(data, dict):
            raise ValidationError("must be an object")
        name = data.get("operation")
        if not isinstance(name, str) or name not in self.kinds:
            raise ValidationError({"operation": [f"must be one of {', '.join(self.kinds)}"]})
        operation: Operation = validated(self.kinds[name], data)
        return operation


class OperationFieldExtension(OpenApiSerializerFieldExtension):
    """Describe the choice between the operations."""

    target_class = OperationField

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        """Return all of them, told apart by `operation`."""
        kinds = OperationField.kinds.items()
        refs = {name: auto_schema.resolve_serializer(each, "request").ref for name, each in kinds}
        mapping = {name: ref["$ref"] for name, ref in refs.items()}
        return {"oneOf": [*refs.values()], "discriminator": {"propertyName": "operation", "mapping": mapping}}


class ItemOperationsSerializer(ApiSerializer):
    """Operations that are carried out together or not at all."""

    operations = serializers.ListField(child=OperationField(), min_length=1, max_length=MAX_OPERATIONS)


class ItemSerializer(ApiModelSerializer):
    """An item. `score` rates its words against the query of a search."""

    value = serializers.DictField()
    user_id = serializers.CharField(source="end_user.external_id", default=None, allow_null=True)
    session_id = NullIfBlankField()
    score = serializers.FloatField(default=None, allow_null=True)

    class Meta:
        model = StoredItem
        fields = [
            *("namespace", "key", "value", "version", "user_id", "session_id", "created_at", "updated_at"),
            *("expires_at", "score"),
        ]


class NamespaceListField(serializers.ListField):
    """Namespaces, each a list of labels."""

    child = serializers.ListField(child=serializers.CharField())


class ItemListSerializer(ApiSerializer):
    """Found items."""

    results = ItemSerializer(many=True, source="items")


class NamespaceListSerializer(ApiSerializer):
    """Namespaces with items, sorted."""

    results = NamespaceListField(source="namespaces")


class ItemOutcomeSerializer(ApiSerializer):
    """What came of an operation: the item that was read, stored or taken, found items, namespaces, deleted items."""

    item = ItemSerializer(default=None, allow_null=True)
    items = ItemSerializer(many=True, default=None, allow_null=True)
    namespaces = NamespaceListField(default=None, allow_null=True)
    deleted = serializers.IntegerField(default=None, allow_null=True)


class ItemOutcomesSerializer(ApiSerializer):
    """What came of each operation, in their order."""

    results = ItemOutcomeSerializer(many=True)


def check_sizes(fields: Operation, *, at: str) -> None:
    """Raise TooLarge for names, words and values that are too long; `at` precedes the names of fields."""
    names = (*fields.get("namespace", ()), fields.get("key", ""))
    if sum(len(name.encode(errors="replace")) for name in names) > NAME_BYTES:
        raise TooLarge(f"is with its namespace longer than {NAME_BYTES:,} bytes", at=f"{at}key")
    if len(fields.get("query", "")) > QUERY_CHARACTERS:
        raise TooLarge(f"holds more than {QUERY_CHARACTERS:,} characters", at=f"{at}query")
    value = json.dumps(fields.get("value"), ensure_ascii=False, separators=(",", ":"))
    if len(value.encode()) > VALUE_BYTES:
        raise TooLarge(f"is larger than {VALUE_BYTES:,} bytes", at=f"{at}value")


class ItemViewSet(ApiViewSet):
    """Items: one by its namespace and key, and many, which are found, listed, and changed together."""

    scopes = {"POST": Scope.READ}  # operations that write need more, see `batch`

    def run(self, name: str, fields: Mapping[str, Any], *, at: str = "/") -> Outcome:
        """Run one operation. Raises TooLarge, and what the operation raises."""
        check_sizes(fields, at=at)
        return run_item_operations(project_id=self.caller.project_id, operations=[{**fields, "operation": name}])[0]

    @operation(
        "read_item", summary="Read an item", query=ItemQuery, answers={200: ItemSerializer}, problems=[Code.NOT_FOUND]
    )
    def retrieve(self, request: Request) -> Response:
        """Return the item of a key."""
        if (item := self.run("get", self.query, at="")["item"]) is None:
            raise NotFound("there is no such item")
        return self.answer(ItemSerializer, item)

    @operation(
        "put_item",
        summary="Store an item",
        body=ItemBodySerializer,
        answers={200: ItemSerializer},
        problems=[Code.CONFLICT, Code.QUOTA_EXCEEDED],
        example=_ITEM,
    )
    def update(self, request: Request) -> Response:
        """Store a JSON object under a namespace and a key, in place of the one that is there.

        No pipeline reads items. What the answer shows is stored: sensitive values are replaced before.
        """
        wanted = self.valid(ItemBodySerializer)
        check_item_quota(project_id=self.caller.project_id)
        return self.answer(ItemSerializer, self.run("put", wanted)["item"])

    @operation(
        "delete_item",
        summary="Delete an item",
        query=ItemPlaceQuery,
        answers={204: None},
        problems=[Code.NOT_FOUND],
    )
    def destroy(self, request: Request) -> Response:
        """Delete the item of a key; nothing of it stays."""
        if not self.run("delete", self.query, at="")["deleted"]:
            raise NotFound("there is no such item")
        return Response(status=204)

    @operation(
        "search_items",
        summary="Search items",
        body=ItemSearchSerializer,
        answers={200: ItemListSerializer},
        example={"namespace_prefix": ["users"], "filter": {"theme": "dark"}},
    )
    def search(self, request: Request) -> Response:
        """Find items below a namespace by the fields of their values, and by words."""
        return self.answer(ItemListSerializer, self.run("search", self.valid(ItemSearchSerializer)))

    @operation(
        "list_item_namespaces",
        summary="List the namespaces of items",
        body=NamespacesSerializer,
        answers={200: NamespaceListSerializer},
        example={"prefix": ["users", "*"], "max_depth": 2},
    )
    def namespaces(self, request: Request) -> Response:
        """List the namespaces that hold items, sorted."""
        return self.answer(NamespaceListSerializer, self.run("list_namespaces", self.valid(NamespacesSerializer)))

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
            check_sizes(each, at=f"/operations/{place}/")
        names = {each["operation"] for each in operations}
        if not names <= READS:
            if not self.caller.may(Scope.WRITE):
                raise NotAllowed(scope_needed(Scope.WRITE))
            if self.caller.is_of_archived_project:
                raise ProjectArchived
        if "put" in names:
            check_item_quota(project_id=self.caller.project_id)
        outcomes = run_item_operations(project_id=self.caller.project_id, operations=operations)
        return self.answer(ItemOutcomesSerializer, {"results": outcomes})
