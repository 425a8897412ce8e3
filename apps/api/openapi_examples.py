"""Descriptions of fields in the OpenAPI document, and an example for each successful JSON response."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from apps.pipeline.core.identifiers import Prefix

_Schemas = dict[str, dict[str, Any]]
_NUMBER = "01990000000070008000000000000001"
_DEEPEST = 8  # levels of an example
_TIME, _DAY = "2026-03-02T09:12:00Z", "2026-03-02"
# What the fields of a name hold; others get the plainest value of their type.
_BY_NAME: dict[str, Any] = {
    "user_id": "ana",
    "session_id": "2026-03-02",
    "turn_id": "message-17",
    "name": "Lisbon",
    "content": "Ana lives in Lisbon.",
    "evidence": "I moved to Lisbon last month.",
    "predicate": "lives_in",
    "object_text": "Lisbon",
    "language": "en",
    "context": "<memories>\n- Ana lives in Lisbon.\n</memories>",
    "confidence": 0.9,
    "importance": 0.5,
    "score": 0.83,
}
_IDENTIFIERS = ("memory_id", "trace_id", "memory_ids", "turn")
# Of enums the value that most callers see first.
_USUAL = frozenset("active fact place positive direct Supported asserted user done stored persist pass ok".split())


def with_examples(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Return the document with examples (a hook of drf-spectacular)."""
    schemas: _Schemas = result["components"]["schemas"]
    for operations in result["paths"].values():
        for operation in operations.values():
            for status, response in operation["responses"].items():
                body = response.get("content", {}).get("application/json", {})
                if status.startswith("2") and "$ref" in body.get("schema", {}) and "examples" not in body:
                    value = _example(body["schema"], schemas, name="", levels=_DEEPEST)
                    body["examples"] = {"Response": {"value": value, "summary": "response"}}
    return result


def _example(schema: dict[str, Any], schemas: _Schemas, *, name: str, levels: int) -> Any:
    """Return a value of a schema; `name` is the field that holds it, "" if none does.

    Of several types it is the first one; null where a plain value may be missing and nothing is known of it.
    """
    if "$ref" in schema:
        schema = schemas[schema["$ref"].rsplit("/", 1)[1]]
    if "anyOf" in schema and schema.get("type") != "string":
        given = [kind for kind in schema["anyOf"] if kind != {"type": "null"}]
        is_plain = all(kind.get("type") not in ("object", "array") and "$ref" not in kind for kind in given)
        is_unknown = len(given) < len(schema["anyOf"]) and is_plain and _known(name) is None
        return None if levels <= 0 or is_unknown else _example(given[0], schemas, name=name, levels=levels)
    if "enum" in schema:
        return next((value for value in schema["enum"] if value in _USUAL), schema["enum"][0])
    if schema.get("type") == "object":
        kind = schema.get("title", "")
        return {
            field: _identifier(kind) if field == "id" else _example(described, schemas, name=field, levels=levels - 1)
            for field, described in schema.get("properties", {}).items()
        }
    if schema.get("type") == "array":
        one = _example(schema.get("items", {}), schemas, name=name, levels=levels - 1)
        return [one] if levels > 0 and one else []
    if schema.get("format") in ("date-time", "date"):
        return _TIME if schema["format"] == "date-time" else _DAY
    # What is known of the name, where it is a text or a fraction as the type is.
    plain: dict[Any, Any] = {"string": "", "integer": 1, "number": 0.5, "boolean": False}
    value, known = plain.get(schema.get("type")), _known(name)
    return known if isinstance(value, str | float) and type(known) is type(value) else value


def _known(name: str) -> Any:
    """Return what a field of this name holds; None if nothing is known of it."""
    return _BY_NAME.get(name) or (_identifier(name) if name in _IDENTIFIERS else None)


def _identifier(name: str) -> str:
    """Return an identifier of what a name begins with: mem_… for memory_id and MemoryResponse."""
    named = (each for each in Prefix if name.lower().startswith(each.name.lower()))
    return f"{next(named, Prefix.MEMORY).value}_{_NUMBER}"


FILE = Path(__file__).with_name("field_descriptions.toml")


def descriptions() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the descriptions by name, and those of one schema alone by `Schema.name`."""
    found = tomllib.loads(FILE.read_text(encoding="utf-8"))
    special: Mapping[str, str] = found.pop("of one schema")
    return found, special


def with_descriptions(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Return the document with descriptions where the schema has none (a hook of drf-spectacular)."""
    general, special = descriptions()
    for schema_name, schema in result["components"]["schemas"].items():
        for name, described in schema.get("properties", {}).items():
            if text := special.get(f"{schema_name}.{name}") or general.get(name):
                described["description"] = text
    for operations in result["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                described = parameter["schema"].pop("description", "")
                if text := described or general.get(parameter["name"], ""):
                    parameter.setdefault("description", text)
    return result
