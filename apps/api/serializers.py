"""Serializers of the REST API: strict about names and types of what is sent; fields for what DRF has none."""

import inspect
import json
from collections.abc import Mapping
from dataclasses import is_dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from django.db.models import Model
from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from apps.api.problems import flattened, invalid
from apps.pipeline.core.agent_scope import AgentScope
from apps.pipeline.core.identifiers import BadIdentifier, Prefix, parse, show
from apps.pipeline.core.input_validation import (
    METADATA_BYTES,
    METADATA_DEPTH,
    BadInput,
    check_json,
    check_storable,
    checked_moment,
    checked_name,
)

# A field that may be left out, which is the same as null.
OPTIONAL: dict[str, Any] = {"required": False, "allow_null": True, "default": None}
MAX_PAGE = 200
CONTENT_CHARACTERS = 20_000  # of a turn or a sentence

# What JSON type each field takes: DRF would turn 3 into "3", and "yes" into true.
_JSON_TYPES: tuple[tuple[type[serializers.Field[Any, Any, Any, Any]], tuple[type, ...], str], ...] = (
    (serializers.BooleanField, (bool,), "must be true or false"),
    (serializers.IntegerField, (int,), "must be a whole number"),
    (serializers.FloatField, (int, float), "must be a number"),
    (serializers.CharField, (str,), "must be a string"),
    (serializers.ChoiceField, (str,), "must be a string"),
    (serializers.DateTimeField, (str,), "must be a time as a string"),
)


class StrictMixin:
    """Refuse unknown fields and values of another JSON type; take texts as they are, untrimmed."""

    takes_text = False  # a query string, whose numbers are text

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields, of which none trims what is sent."""
        fields: dict[str, serializers.Field[Any, Any, Any, Any]] = super().get_fields()
        for field in fields.values():
            for each in (field, getattr(field, "child", None)):
                if isinstance(each, serializers.CharField):
                    each.trim_whitespace = False
        return fields

    def to_internal_value(self, data: Any) -> Any:
        """Return the validated values. Raises ValidationError."""
        if isinstance(data, Mapping):
            fields: dict[str, serializers.Field[Any, Any, Any, Any]] = self.fields  # type: ignore[attr-defined]  # a mixin's
            writable = {name: field for name, field in fields.items() if not field.read_only}
            known = f"; known are {', '.join(sorted(writable))}" if writable else ""
            errors: dict[str, Any] = {name: [f"is unknown{known}"] for name in data if name not in writable}
            if not self.takes_text:
                found = {name: _type_error(field, data[name]) for name, field in writable.items() if name in data}
                errors |= {name: error for name, error in found.items() if error}
            if errors:
                try:
                    super().to_internal_value({name: value for name, value in data.items() if name not in errors})
                except ValidationError as error:  # what else is wrong
                    further = error.detail if isinstance(error.detail, dict) else {}
                    errors |= {name: each for name, each in further.items() if name not in errors}
                raise ValidationError(errors)
        return super().to_internal_value(data)


def _type_error(field: serializers.Field[Any, Any, Any, Any], value: Any) -> Any:
    """Return what is wrong with the JSON type of a value, for a list by index; None if nothing is."""
    if isinstance(field, serializers.ListField) and isinstance(value, list):
        found = {str(index): _type_error(field.child, each) for index, each in enumerate(value)}
        return {index: error for index, error in found.items() if error} or None
    for kind, types, message in _JSON_TYPES:
        if isinstance(field, kind):
            is_right = isinstance(value, types) and (bool in types or not isinstance(value, bool))
            is_whole = int in types and isinstance(value, float) and value.is_integer()  # 3.0 is 3 in JSON
            return None if is_right or is_whole or value is None else [message]
    return None


def validated(serializer: type[serializers.BaseSerializer[Any]], given: Any) -> Any:
    """Return the validated values, usually a dictionary. Raises ValidationError."""
    read = serializer(data=given)
    read.is_valid(raise_exception=True)
    return read.validated_data


class ApiSerializer(StrictMixin, serializers.Serializer[Any]):
    """A body or an answer that is no row."""


class ApiModelSerializer(StrictMixin, serializers.ModelSerializer[Any]):
    """A row as a body or an answer."""


class QuerySerializer(StrictMixin, serializers.Serializer[Any]):
    """Query parameters."""

    takes_text = True


class PageQuery(QuerySerializer):
    """Paging of a list."""

    cursor = serializers.CharField(**OPTIONAL)
    limit = serializers.IntegerField(min_value=1, max_value=MAX_PAGE, default=50)


class NoQuery(QuerySerializer):
    """No query parameters."""


def read_query(request: Request, shape: type[QuerySerializer]) -> dict[str, Any]:
    """Return the validated query parameters. Raises Problem with the name of the first invalid one."""
    serializer = shape(data={})
    values: dict[str, Any] = {}
    for name, given in request.query_params.lists():
        for text in (name, *given):
            check_storable(text, at=name)
        is_list = isinstance(serializer.fields.get(name), serializers.ListField)
        if len(given) > 1 and not is_list:
            raise invalid("is given more than once", at=name)
        values[name] = given if is_list else given[0]
    serializer = shape(data=values)
    if not serializer.is_valid():
        name, errors = next(iter(serializer.errors.items()))
        _, message = next(flattened(errors))
        raise invalid(message, at=name)
    validated: dict[str, Any] = serializer.validated_data
    return validated


class EnumField(serializers.ChoiceField):
    """A member of an enum."""

    default_error_messages = {"invalid_choice": '"{input}" is none of: {allowed}'}

    def __init__(self, kind: type[StrEnum], **options: Any) -> None:
        self.kind = kind
        super().__init__(choices=[each.value for each in kind], **options)

    def to_internal_value(self, data: Any) -> StrEnum:
        """Return the member. Raises ValidationError."""
        try:
            return self.kind(data)
        except ValueError:
            allowed = ", ".join(each.value for each in self.kind)
            self.fail("invalid_choice", input=data, allowed=allowed)


class EnumFieldExtension(OpenApiSerializerFieldExtension):
    """Describe an enum once in the OpenAPI document, by the name of its class."""

    target_class = EnumField

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        """Return a reference to the schema of the enum."""
        kind = self.target.kind
        component = ResolvedComponent(
            name=kind.__name__,
            type=ResolvedComponent.SCHEMA,
            object=kind.__name__,
            schema={
                "type": "string",
                "enum": sorted(each.value for each in kind),
                "title": kind.__name__,
                "description": inspect.getdoc(kind),
            },
        )
        auto_schema.registry.register_on_missing(component)
        reference: dict[str, Any] = component.ref
        return reference


class NameField(serializers.CharField):
    """A name or an identifier of the caller's own, without characters that nobody sees."""

    def __init__(self, *, max_length: int = 255, **options: Any) -> None:
        super().__init__(max_length=max_length, **{"trim_whitespace": False, **options})

    def to_internal_value(self, data: Any) -> str:
        """Return the name unchanged. Raises ValidationError."""
        try:
            return checked_name(super().to_internal_value(data), at="")
        except BadInput as error:
            raise ValidationError(str(error)) from error


class MomentField(serializers.DateTimeField):
    """A time in UTC; one that is sent without an offset is taken as UTC."""

    def __init__(self, **options: Any) -> None:
        super().__init__(default_timezone=UTC, **options)

    def to_internal_value(self, value: Any) -> Any:
        """Return the time. Raises ValidationError, also before the year 1000 and from 2500 on."""
        try:
            return checked_moment(super().to_internal_value(value), at="")
        except BadInput as error:
            raise ValidationError(str(error)) from error


_TIME_OR_DATE = {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "string", "format": "date"}]}


@extend_schema_field({"description": "A time, or a date alone for its start in UTC.", **_TIME_OR_DATE})
class DayStartField(MomentField):
    """The start of a period: a time, or a date for its first moment in UTC."""

    default_error_messages = {"invalid": "must be a time such as 2026-03-02T09:12:00Z, or a date"}
    time_of_day = "00:00:00"

    def to_internal_value(self, value: Any) -> Any:
        """Return the moment. Raises ValidationError."""
        is_date = isinstance(value, str) and len(value) == len("2026-03-02") and value[4] == value[7] == "-"
        return super().to_internal_value(f"{value}T{self.time_of_day}Z" if is_date else value)


@extend_schema_field({"description": "A time, or a date alone for its end in UTC.", **_TIME_OR_DATE})
class DayEndField(DayStartField):
    """The end of a period: a time, or a date for its last moment in UTC."""

    time_of_day = "23:59:59.999999"


@extend_schema_field(OpenApiTypes.STR)
class PublicIdField(serializers.Field[Any, Any, Any, Any]):
    """An identifier as callers know it, such as `mem_…`; within, its UUID."""

    def __init__(self, prefix: Prefix, **options: Any) -> None:
        self.prefix = prefix
        super().__init__(**options)

    def to_internal_value(self, data: Any) -> Any:
        """Return the UUID. Raises ValidationError."""
        try:
            return parse(self.prefix, data if isinstance(data, str) else "")
        except BadIdentifier as error:
            raise ValidationError(str(error)) from error

    def to_representation(self, value: Any) -> str:
        """Return the public form of a UUID or of a row."""
        return show(self.prefix, value.pk if isinstance(value, Model) else value)


_FIELDS = {
    str: serializers.CharField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    bool: serializers.BooleanField,
}


@cache
def serializer_of(shape: type[Any]) -> type[ApiSerializer]:
    """Return the serializer of a dataclass in answers, which is described by its docstring and types."""
    fields = {name: _field_of(hint) for name, hint in get_type_hints(shape).items()}
    made = type(f"{shape.__name__}Serializer", (ApiSerializer,), {**fields, "__doc__": shape.__doc__})
    return extend_schema_serializer(component_name=shape.__name__)(made)


def _field_of(hint: Any, **options: Any) -> serializers.Field[Any, Any, Any, Any]:
    """Return the field of a type: a number, a text, a dataclass, one of these or None, a mapping or a tuple of them."""
    kinds = get_args(hint)
    if NoneType in kinds:
        return _field_of(kinds[0], allow_null=True)
    if get_origin(hint) is Mapping:
        return serializers.DictField(child=_field_of(kinds[1]))
    if get_origin(hint) is tuple:
        return serializers.ListField(child=_field_of(kinds[0]), min_length=len(kinds), max_length=len(kinds))
    if isinstance(hint, type) and is_dataclass(hint):
        return serializer_of(hint)(**options)
    return _FIELDS[hint](**options)


class NullIfBlankField(serializers.CharField):
    """A text of which "" is shown as null."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_null=True, **options)

    def to_representation(self, value: str) -> str | None:  # type: ignore[override]  # a field may be null
        """Return the text, or None for ""."""
        return value or None


@extend_schema_field({"type": "object", "additionalProperties": {}})
class MetadataField(serializers.Field[Any, Any, Any, Any]):
    """An object of the caller's own, of at most METADATA_BYTES and METADATA_DEPTH levels; null is an empty one."""

    default_error_messages = {"type": "must be an object", "size": f"is larger than {METADATA_BYTES:,} bytes"}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Return the object unchanged. Raises ValidationError."""
        if not isinstance(data, dict):
            self.fail("type")
        if len(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()) > METADATA_BYTES:
            self.fail("size")
        try:
            check_json(data, max_depth=METADATA_DEPTH)
        except BadInput as error:  # without the place within it
            raise ValidationError(str(error)) from error
        return data

    def to_representation(self, value: Any) -> Any:
        """Return the object."""
        return value


class AgentScopeSerializer(ApiSerializer):
    """A body that names the agent, the application and the run that it comes from or is about."""

    agent_id = NameField(**OPTIONAL)
    app_id = NameField(**OPTIONAL)
    run_id = NameField(**OPTIONAL)


class AgentScopeQuery(QuerySerializer):
    """Query parameters that name an agent, an application and a run."""

    agent_id = NameField(**OPTIONAL)
    app_id = NameField(**OPTIONAL)
    run_id = NameField(**OPTIONAL)


def agent_scope_of(values: Mapping[str, Any]) -> AgentScope:
    """Return the scope that validated values name."""
    return AgentScope(**{name: values.get(name) or "" for name in ("agent_id", "app_id", "run_id")})


class AdjustmentSerializer(ApiSerializer):
    """A value that was taken otherwise than it was sent, by its JSON pointer."""

    pointer = serializers.CharField()
    message = serializers.CharField()


class SkippedSerializer(ApiSerializer):
    """A message that was not taken, by the JSON pointer of the value that prevents it, and why.

    The other messages of the request are taken. If none is left, the request is refused instead.
    """

    pointer = serializers.CharField()
    message = serializers.CharField()


def adjusted_text(given: str | None, taken: str, *, at: str) -> dict[str, str] | None:
    """Report a text from which characters were removed."""
    if not given or given == taken:
        return None
    return {"pointer": at, "message": "characters that carry no words were removed or replaced"}


def adjusted_value(given: Any, stored: Any, *, at: str) -> dict[str, str] | None:
    """Report a value that the key may not set."""
    return None if given == stored else {"pointer": at, "message": f"needs the scope trust; stored as {stored}"}


def adjusted_time(given: datetime | None, taken: datetime | None, *, at: str) -> dict[str, str] | None:
    """Report a time that was moved; a time without an offset is in UTC."""
    if given is None or taken is None or (given if given.tzinfo else given.replace(tzinfo=UTC)) == taken:
        return None
    return {"pointer": at, "message": f"lies ahead of the clock; taken as {taken.isoformat()}"}


@extend_schema_serializer(component_name="FieldError")
class FieldErrorSerializer(ApiSerializer):
    """One invalid value: `pointer` is a JSON pointer into the body, `parameter` the name of a parameter or header."""

    may_be_missing = frozenset({"pointer", "parameter"})
    message = serializers.CharField()
    pointer = serializers.CharField(required=False)
    parameter = serializers.CharField(required=False)
