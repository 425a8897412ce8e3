"""How serializers and problems are described in the OpenAPI document."""

from collections.abc import Iterable
from typing import Any

from drf_spectacular.drainage import has_override
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import is_list_serializer
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema_serializer
from rest_framework import serializers

from apps.api.problems import CONTENT_TYPE, STATUS_AND_TITLE, Code, Problem
from apps.api.serializers import ApiSerializer, FieldErrorSerializer

BYTES = {"type": "string", "format": "binary", "minLength": 1}


class ApiSchema(AutoSchema):
    """Describe what the base serializers do: bodies refuse unknown fields, answers have all of theirs.

    Fields in `may_be_missing` of a serializer are not in every answer. Components are named by what they are: the
    WebhookBody that is sent, the WebhookResponse, the WebhookList. drf-spectacular has no public hooks for this.
    """

    def get_paginated_name(self, serializer_name: str) -> str:
        """Return the name of a page of these."""
        return f"{serializer_name.removesuffix('Response').removesuffix('Summary').removesuffix('Detail')}List"

    def _get_serializer_name(self, serializer: Any, direction: str, bypass_extensions: bool = False) -> str:
        name = str(super()._get_serializer_name(serializer, direction, bypass_extensions)).removesuffix("Request")
        suffix = "Body" if direction == "request" else "Response"
        if has_override(serializer, "component_name") or name.endswith((suffix, "List")):
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
        missing = getattr(serializer, "may_be_missing", ())
        return {**schema, "required": [name for name in schema.get("properties", ()) if name not in missing]}


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


@extend_schema_serializer(component_name="ProblemDocument")
class ProblemSerializer(ApiSerializer):
    """An error (RFC 9457). `code` is stable and meant for programs, `detail` for people.

    `request_id` is that of `X-Request-Id`; the server's log lines about the request name it.
    """

    may_be_missing = frozenset({"request_id", "errors"})
    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    code = serializers.CharField()
    request_id = serializers.CharField()
    errors = FieldErrorSerializer(many=True)  # type: ignore[assignment]  # no attribute of the class


def problem_responses(codes: Iterable[Code]) -> dict[tuple[int, str], OpenApiResponse]:
    """Describe problems by their status."""
    by_status: dict[int, list[Code]] = {}
    for code in dict.fromkeys(codes):
        by_status.setdefault(STATUS_AND_TITLE[code][0], []).append(code)
    responses = {}
    for status, found in sorted(by_status.items()):
        described = "; ".join(f"`{code}`: {STATUS_AND_TITLE[code][1]}" for code in found)
        examples = [
            OpenApiExample(code.value, value=Problem(code, "a one-line explanation").document(), response_only=True)
            for code in found
        ]
        responses[status, CONTENT_TYPE] = OpenApiResponse(ProblemSerializer, description=described, examples=examples)
    return responses
