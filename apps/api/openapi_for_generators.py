"""Say in the OpenAPI document what generators of clients understand.

openapi-python-client reads no `false` as a schema of items. openapi-typescript takes an object without properties for
one that must be empty, and a field with a default for one that is always there. None knows the form of identifiers.
"""

import json
from typing import Any

from apps.pipeline.core.identifiers import Prefix

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
                _describe_identifier(parameter)
    return result


def _describe_identifier(parameter: dict[str, Any]) -> None:
    """State the form of an identifier in a path; those of end users and sessions are the caller's own words."""
    kind = parameter["name"].removesuffix("_id")
    if parameter["in"] == "path" and kind in _PREFIXES:
        parameter["schema"]["pattern"] = f"^{_PREFIXES[kind]}_[0-9a-f]{{32}}$"


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
    return _with_default_in_words(plain, node)


def _with_default_in_words(plain: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    default = node.get("default")
    if default in (None, "", [], (), {}):  # what a missing value means anyway
        return plain
    said = f"{node.get('description', '')} Default: `{json.dumps(default)}`."
    return {**plain, "description": said.strip()}
