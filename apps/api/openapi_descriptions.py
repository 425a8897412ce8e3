"""Describe each property and parameter of the OpenAPI document by its name: one name has one meaning in the API."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
                described.setdefault("description", text)
    for operations in result["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                described = parameter["schema"].pop("description", "")
                if text := described or general.get(parameter["name"], ""):
                    parameter.setdefault("description", text)
    return result
