"""The OpenAPI document at /v1/schema, also for generators; each process builds it once, which takes seconds."""

import json
from functools import cache
from threading import Lock
from typing import Any

from django.http import HttpResponse
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import (
    OpenApiJsonRenderer,
    OpenApiJsonRenderer2,
    OpenApiYamlRenderer,
    OpenApiYamlRenderer2,
)
from drf_spectacular.utils import extend_schema
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.api.parsers import JSONRenderer
from apps.pipeline.core.identifiers import Prefix

_TEXTS: dict[str, type[BaseRenderer]] = {"yaml": OpenApiYamlRenderer, "json": OpenApiJsonRenderer}
_one_at_a_time = Lock()  # without it, requests that arrive together would all build the document


class OpenApiDocumentView(APIView):
    """The OpenAPI document, in YAML unless the header `Accept` or `?format=json` asks for JSON."""

    authentication_classes = ()
    permission_classes = ()
    renderer_classes = (OpenApiYamlRenderer, OpenApiYamlRenderer2, OpenApiJsonRenderer, OpenApiJsonRenderer2)

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        """Return the document, which is the same for every caller."""
        chosen: BaseRenderer = request.accepted_renderer
        with _one_at_a_time:
            text = _text(chosen.format)
        charset = f"; charset={chosen.charset}" if chosen.charset else ""
        shown = {"Content-Disposition": f'inline; filename="memplatform.{chosen.format}"'}
        return HttpResponse(text, content_type=f"{chosen.media_type}{charset}", headers=shown)

    def handle_exception(self, exc: Exception) -> Response:
        """Answer errors in JSON, whatever form of the document was asked for."""
        answer = super().handle_exception(exc)
        self.request.accepted_renderer, self.request.accepted_media_type = JSONRenderer(), JSONRenderer.media_type
        return answer


@cache
def _text(form: str) -> bytes:
    """Return the document as text in this form, `yaml` or `json`."""
    written = _TEXTS[form]().render(_document(), renderer_context={})
    return written if isinstance(written, bytes) else written.encode()


@cache
def _document() -> dict[str, Any]:
    document: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return document


_PREFIXES = {
    each.name.rsplit("_", 1)[-1].lower(): each.value for each in Prefix if each not in (Prefix.END_USER, Prefix.SESSION)
}


def without_slash(endpoints: list[tuple[str, str, str, Any]]) -> list[tuple[str, str, str, Any]]:
    """Return the operations under their usual address alone (a hook of drf-spectacular)."""
    return [each for each in endpoints if not each[0].endswith("/")]


def for_generators(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Return the document with its schemas in that form (a hook of drf-spectacular)."""
    schemas = result["components"]["schemas"]
    result["components"]["schemas"] = {name: _plain(schema) for name, schema in schemas.items()}
    for operations in result["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                # Those of end users and sessions are the caller's own words.
                kind = parameter["name"].removesuffix("_id")
                if parameter["in"] == "path" and kind in _PREFIXES:
                    parameter["schema"]["pattern"] = f"^{_PREFIXES[kind]}_[0-9a-f]{{32}}$"
                parameter["schema"] = _without_null(parameter["schema"])
    return result


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a parameter: a query string can't carry null, the parameter is left out instead."""
    schema = _with_null_apart({name: value for name, value in schema.items() if name != "default" or value is not None})
    kinds = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    if not kinds:
        return schema
    alternatives = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    return {**{name: value for name, value in schema.items() if name != "anyOf"}, **alternatives}


def _plain(node: Any) -> Any:
    """Return a schema, and all within it, in the form that generators understand."""
    if isinstance(node, list):
        return [_plain(each) for each in node]
    if not isinstance(node, dict):
        return node
    plain = {name: _plain(value) for name, value in node.items() if name not in ("properties", "default")}
    if "properties" in node:
        plain["properties"] = {name: _plain(value) for name, value in node["properties"].items()}
    elif plain.get("type") == "object":
        plain.setdefault("additionalProperties", {})
    if plain.get("items") is False:  # of a tuple; `maxItems` says the same
        del plain["items"]
    default = node.get("default")
    if default not in (None, "", [], (), {}):  # these are what a missing value means anyway
        plain["description"] = f"{node.get('description', '')} Default: `{json.dumps(default)}`.".strip()
    return _with_null_apart(plain)


def _with_null_apart(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that may be null as a choice between null and the rest."""
    if {} in schema.get("oneOf", ()):  # any value
        return {name: value for name, value in schema.items() if name != "oneOf"}
    if "oneOf" in schema:
        return {**{name: value for name, value in schema.items() if name != "oneOf"}, "anyOf": schema["oneOf"]}
    if len(schema.get("allOf", ())) == 1:  # a reference with a description beside it
        return {**schema["allOf"][0], **{name: value for name, value in schema.items() if name != "allOf"}}
    kinds = schema.get("type")
    if not isinstance(kinds, list):
        return schema
    rest = {name: value for name, value in schema.items() if name != "description"}
    alternatives = [{**rest, "type": kind} if kind != "null" else {"type": "null"} for kind in kinds]
    described = {"description": schema["description"]} if "description" in schema else {}
    return {"anyOf": alternatives, **described}
