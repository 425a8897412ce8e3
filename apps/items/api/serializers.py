"""Operations on items as they are sent, and what comes of them."""

from typing import Any, ClassVar

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from apps.api.serializers import (
    OPTIONAL,
    ApiModelSerializer,
    ApiSerializer,
    EnumField,
    NameField,
    NullIfBlankField,
    QuerySerializer,
)
from apps.items.models import StoredItem
from apps.items.operations import (
    MAX_LABELS,
    MAX_OPERATIONS,
    QUERY_CHARACTERS,
    ClearItems,
    DeleteItem,
    GetItem,
    ItemOperation,
    ItemOrder,
    ListNamespaces,
    PopItem,
    PutItem,
    SearchItems,
)


class LabelsField(serializers.ListField):
    """The labels of a namespace, or of a part of one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(child=NameField(), max_length=MAX_LABELS, **options)

    def to_internal_value(self, data: Any) -> tuple[str, ...]:  # type: ignore[override]  # as operations hold them
        """Return the labels. Raises ValidationError."""
        return tuple(super().to_internal_value(data))


@extend_schema_field({"type": "string", "maxLength": QUERY_CHARACTERS})
class WordsField(serializers.CharField):
    """Words to look for; too many are refused with a code of their own."""


class ItemPlaceQuery(QuerySerializer):
    """The place of an item; `namespace` is given once for each label."""

    namespace = LabelsField(min_length=1)
    key = NameField()


class ItemQuery(ItemPlaceQuery):
    """The place of an item; `namespace` is given once for each label. Reading one that expires lets it live on."""

    refresh_ttl = serializers.BooleanField(default=True)


class OperationSerializer(ApiSerializer):
    """The fields of an operation, of which `operation` makes it."""

    makes: ClassVar[type[ItemOperation]]

    def validate(self, attrs: dict[str, Any]) -> Any:
        """Return the operation."""
        attrs.pop("operation", None)
        return self.makes(**attrs)


@extend_schema_serializer(component_name="ItemSearchBody")
class ItemSearchSerializer(OperationSerializer):
    """What to find below a namespace.

    `filter` maps fields of the value to what they hold: a value, an object of further fields, or operators (`$eq`,
    `$ne`, `$gt`, `$gte`, `$lt`, `$lte`). With a `query`, items with its words come before the others, best first.
    """

    makes = SearchItems
    namespace_prefix = LabelsField(default=tuple)
    filter = serializers.DictField(default=dict)
    query = WordsField(allow_blank=True, default="")
    user_id = NameField(**OPTIONAL)
    order = EnumField(ItemOrder, default=ItemOrder.UPDATED)
    limit = serializers.IntegerField(min_value=1, max_value=200, default=50)
    offset = serializers.IntegerField(min_value=0, max_value=1_000_000, default=0)
    refresh_ttl = serializers.BooleanField(default=True)


@extend_schema_serializer(component_name="NamespacesBody")
class NamespacesSerializer(OperationSerializer):
    """Which namespaces to list; a label `*` of prefix or suffix stands for any. Deeper ones are cut at `max_depth`."""

    makes = ListNamespaces
    prefix = LabelsField(default=tuple)
    suffix = LabelsField(default=tuple)
    max_depth = serializers.IntegerField(min_value=1, max_value=MAX_LABELS, **OPTIONAL)
    limit = serializers.IntegerField(min_value=1, max_value=200, default=50)
    offset = serializers.IntegerField(min_value=0, max_value=1_000_000, default=0)


@extend_schema_field({"type": "number", "exclusiveMinimum": 0, "maximum": 5_256_000})
class MinutesField(serializers.FloatField):
    """More than no minutes, at most ten years."""

    def to_internal_value(self, data: Any) -> float:
        """Return the minutes. Raises ValidationError."""
        minutes = super().to_internal_value(data)
        if not 0 < minutes <= 5_256_000:
            raise ValidationError("must be more than 0 and at most 5,256,000")
        return minutes


@extend_schema_serializer(component_name="ItemBody")
class NewItemSerializer(OperationSerializer):
    """An item to store in place of the one that the key has.

    `user_id` says whose data it is: it is exported and erased with this end user, and deleted with the session of the
    end user that `session_id` names, which needs a `user_id`. Sensitive values are replaced as the project's policy
    says, unless its setting `redaction.items` is off. `text` holds the words by which a query finds it; without it
    these are all texts of the value, and with "" none. It expires `ttl_minutes` after the last access. With
    `expected_version`, the key must have an item of this version, or with 0 none.
    """

    makes = PutItem
    namespace = LabelsField(min_length=1)
    key = NameField()
    value = serializers.DictField()
    user_id = NameField(**OPTIONAL)
    session_id = NameField(**OPTIONAL)
    text = serializers.CharField(allow_blank=True, **OPTIONAL)
    ttl_minutes = MinutesField(**OPTIONAL)
    expected_version = serializers.IntegerField(min_value=0, max_value=2**31 - 1, **OPTIONAL)


class OperationNameField(serializers.CharField):
    """The name of one operation."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__()


class OperationNameFieldExtension(OpenApiSerializerFieldExtension):
    """Describe the name as a constant."""

    target_class = OperationNameField

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        """Return the constant."""
        return {"type": "string", "const": self.target.name}


@extend_schema_serializer(component_name="GetOperationBody")
class GetOperationSerializer(OperationSerializer):
    """Read an item."""

    makes = GetItem
    operation = OperationNameField("get")
    namespace = LabelsField(min_length=1)
    key = NameField()
    refresh_ttl = serializers.BooleanField(default=True)


@extend_schema_serializer(component_name="SearchOperationBody")
class SearchOperationSerializer(ItemSearchSerializer):
    """Find items below a namespace."""

    operation = OperationNameField("search")


@extend_schema_serializer(component_name="NamespacesOperationBody")
class NamespacesOperationSerializer(NamespacesSerializer):
    """List namespaces."""

    operation = OperationNameField("list_namespaces")


@extend_schema_serializer(component_name="PutOperationBody")
class PutOperationSerializer(NewItemSerializer):
    """Store an item in place of the one that the key has."""

    operation = OperationNameField("put")


@extend_schema_serializer(component_name="DeleteOperationBody")
class DeleteOperationSerializer(OperationSerializer):
    """Delete an item, if there is one."""

    makes = DeleteItem
    operation = OperationNameField("delete")
    namespace = LabelsField(min_length=1)
    key = NameField()


@extend_schema_serializer(component_name="ClearOperationBody")
class ClearOperationSerializer(OperationSerializer):
    """Delete all items below a namespace."""

    makes = ClearItems
    operation = OperationNameField("clear")
    namespace_prefix = LabelsField(min_length=1)


@extend_schema_serializer(component_name="PopOperationBody")
class PopOperationSerializer(OperationSerializer):
    """Delete the newest item of just this namespace, and return it."""

    makes = PopItem
    operation = OperationNameField("pop")
    namespace = LabelsField(min_length=1)


OPERATIONS: dict[str, type[OperationSerializer]] = {
    "get": GetOperationSerializer,
    "search": SearchOperationSerializer,
    "list_namespaces": NamespacesOperationSerializer,
    "put": PutOperationSerializer,
    "delete": DeleteOperationSerializer,
    "clear": ClearOperationSerializer,
    "pop": PopOperationSerializer,
}


class OperationField(serializers.Field[Any, Any, Any, Any]):
    """One operation, as its `operation` says."""

    def to_internal_value(self, data: Any) -> ItemOperation:
        """Return the operation. Raises ValidationError."""
        if not isinstance(data, dict):
            raise ValidationError("must be an object")
        name = data.get("operation")
        if not isinstance(name, str) or name not in OPERATIONS:
            raise ValidationError({"operation": [f"must be one of {', '.join(OPERATIONS)}"]})
        given = OPERATIONS[name](data=data)
        given.is_valid(raise_exception=True)
        operation: ItemOperation = given.validated_data
        return operation


class OperationFieldExtension(OpenApiSerializerFieldExtension):
    """Describe the choice between the operations."""

    target_class = OperationField

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        """Return all of them, told apart by `operation`."""
        refs = {name: auto_schema.resolve_serializer(each, "request").ref for name, each in OPERATIONS.items()}
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


class ItemListSerializer(ApiSerializer):
    """Found items."""

    results = ItemSerializer(many=True)


class NamespaceListSerializer(ApiSerializer):
    """Namespaces with items, sorted."""

    results = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))


class ItemOutcomeSerializer(ApiSerializer):
    """What came of an operation: the item that was read, stored or taken, found items, namespaces, deleted items."""

    item = ItemSerializer(allow_null=True)
    items = ItemSerializer(many=True, allow_null=True)
    namespaces = serializers.ListField(child=serializers.ListField(child=serializers.CharField()), allow_null=True)
    deleted = serializers.IntegerField(allow_null=True)


class ItemOutcomesSerializer(ApiSerializer):
    """What came of each operation, in their order."""

    results = ItemOutcomeSerializer(many=True)
