"""Describe structs, query parameters and problems in the OpenAPI document."""

import functools
import inspect
from collections.abc import Iterable
from typing import Any

import msgspec
from drf_spectacular.drainage import has_override, set_override
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent, is_list_serializer
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse

from apps.api.problems import CONTENT_TYPE, STATUS_AND_TITLE, Code, Problem
from apps.api.schemas import ProblemDocument, QueryParameters

_REFERENCE = "#/components/schemas/{name}"

BYTES = {"type": "string", "format": "binary", "minLength": 1}


class ApiSchema(AutoSchema):
    """Describe what the base serializers do: bodies refuse unknown fields, answers always have all of their fields
    but those that a serializer names in `sometimes`.

    Components are named by what they are: the WebhookBody that is sent, the WebhookResponse, the WebhookList.
    drf-spectacular has no public hooks for this.
    """

    def get_paginated_name(self, serializer_name: str) -> str:
        """Return the name of a page of these."""
        return f"{serializer_name.removesuffix('Response').removesuffix('Summary').removesuffix('Detail')}List"

    def _get_serializer_name(self, serializer: Any, direction: str, bypass_extensions: bool = False) -> str:
        name = str(super()._get_serializer_name(serializer, direction, bypass_extensions)).removesuffix("Request")
        # While some answers are structs still, both describe actors and adjustments, in the same words.
        kind = serializer if isinstance(serializer, type) else type(serializer)
        set_override(kind, "suppress_collision_warning", True)
        is_struct = isinstance(serializer, type) and issubclass(serializer, msgspec.Struct)
        suffix = "Body" if direction == "request" else "Response"
        if is_struct or has_override(serializer, "component_name") or name.endswith((suffix, "List")):
            return name
        return f"{name}{suffix}"

    def _is_list_view(self, serializer: Any = None) -> bool:
        return is_list_serializer(serializer)

    def _map_serializer_field(self, field: Any, direction: str, bypass_extensions: bool = False) -> Any:
        if field.read_only if direction == "request" else field.write_only:
            return None
        return super()._map_serializer_field(field, direction, bypass_extensions)

    def _map_basic_serializer(self, serializer: Any, direction: str) -> dict[str, Any]:
        schema: dict[str, Any] = super()._map_basic_serializer(serializer, direction)
        for described in schema.get("properties", {}).values():
            described.pop("readOnly", None)
            described.pop("writeOnly", None)
        if direction == "request":
            return {**schema, "additionalProperties": False}
        sometimes = getattr(serializer, "sometimes", ())
        return {**schema, "required": [name for name in schema.get("properties", ()) if name not in sometimes]}


class StructExtension(OpenApiSerializerExtension):
    """Let drf-spectacular accept msgspec structs in place of serializers."""

    target_class = "msgspec.Struct"
    match_subclasses = True

    def get_name(self, auto_schema: AutoSchema, direction: str) -> str:
        """Return the struct's name as the component's name."""
        set_override(self.target, "suppress_collision_warning", True)
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        """Return the struct's schema and register the schemas that it refers to."""
        components = _components_of(self.target)
        own = components.pop(self.target.__name__)
        for name, schema in components.items():
            component = ResolvedComponent(
                name=name, type=ResolvedComponent.SCHEMA, object=name, schema=_with_constant_tag(schema)
            )
            auto_schema.registry.register_on_missing(component)
        return own


def _components_of(struct: type[msgspec.Struct]) -> dict[str, dict[str, Any]]:
    """Return the schemas of a struct and of those that it refers to, by name.

    msgspec leaves the indentation of docstrings, with which a second paragraph would be shown as code.
    """
    _, components = msgspec.json.schema_components([struct], ref_template=_REFERENCE)
    for schema in components.values():
        if "description" in schema:
            schema["description"] = inspect.cleandoc(schema["description"])
    return components


def _with_constant_tag(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a member of a union with its tag as a constant, of which no type of its own is made."""
    fields = {
        name: {"type": "string", "const": field["enum"][0]} if set(field) == {"enum"} else field
        for name, field in schema.get("properties", {}).items()
    }
    return {**schema, "properties": fields} if fields else schema


def parameters_of(query: type[QueryParameters]) -> list[OpenApiParameter]:
    """Describe a query string by its struct."""
    components = _components_of(query)
    own = components[query.__name__]
    required = own.get("required", [])
    return [
        OpenApiParameter(
            name=name, required=name in required, type=_without_null(_inlined(described, components)), explode=True
        )
        for name, described in own["properties"].items()
    ]


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a query parameter: a query string can't carry null, the parameter is left out instead."""
    kinds = [each for each in schema.get("anyOf", []) if each != {"type": "null"}]
    if len(kinds) != 1:
        return schema
    return {**kinds[0], **{name: value for name, value in schema.items() if name not in ("anyOf", "default")}}


def _inlined(schema: Any, components: dict[str, Any]) -> Any:
    """Return a schema with all references inlined, as OpenAPI parameters require."""
    if isinstance(schema, list):
        return [_inlined(each, components) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if reference := schema.get("$ref"):
        return _inlined(components[reference.rsplit("/", 1)[1]], components)
    return {key: _inlined(each, components) for key, each in schema.items() if key != "title"}


IDEMPOTENCY_KEY = OpenApiParameter(
    name="Idempotency-Key",
    location=OpenApiParameter.HEADER,
    type={"type": "string", "minLength": 1, "maxLength": 255},
    description="A unique key for this request. Repeats with the same key are executed once and get the same response.",
)
IF_MATCH = OpenApiParameter(
    name="If-Match",
    location=OpenApiParameter.HEADER,
    type={"type": "string", "pattern": r'^(\*|(W/)?"[0-9]{1,9}")$'},
    description='The version that was read, as in its ETag: `"3"`. If there is a newer one, the answer is 409.',
)


def problem_responses(codes: Iterable[Code]) -> dict[tuple[int, str], OpenApiResponse]:
    """Describe problems by their status."""
    by_status: dict[int, list[Code]] = {}
    for code in dict.fromkeys(codes):
        by_status.setdefault(STATUS_AND_TITLE[code][0], []).append(code)
    responses = {}
    for status, found in sorted(by_status.items()):
        described = "; ".join(f"`{code}`: {STATUS_AND_TITLE[code][1]}" for code in found)
        examples = [_example(code) for code in found]
        responses[status, CONTENT_TYPE] = OpenApiResponse(ProblemDocument, description=described, examples=examples)
    return responses


@functools.lru_cache
def _example(code: Code) -> OpenApiExample:
    return OpenApiExample(code.value, value=Problem(code, "a one-line explanation").document(), response_only=True)
