"""JSON schemas for constrained decoding: without bounds, which are checked on every answer."""

from collections.abc import Mapping
from typing import Any

# Keywords that both vendors support; some servers refuse others.
_KNOWN = frozenset("type properties required items enum anyOf $ref $defs description additionalProperties".split())


_SENT: dict[int, tuple[Mapping[str, Any], dict[str, Any]]] = {}  # by identity; each keeps what it was made from


def sent_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return `plain_schema` of a constant, which is made once; whatever it is called with is kept for ever."""
    known = _SENT.get(id(schema))
    if known is None:
        known = _SENT[id(schema)] = (schema, plain_schema(schema))
    return known[1]


def plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with known keywords only; objects allow no further properties."""
    plain = {key: value for key, value in schema.items() if key in _KNOWN}
    for key in ("properties", "$defs"):
        if key in plain:
            plain[key] = {name: plain_schema(each) for name, each in plain[key].items()}
    if "items" in plain:
        plain["items"] = plain_schema(plain["items"])
    if "anyOf" in plain:
        plain["anyOf"] = [plain_schema(each) for each in plain["anyOf"]]
    if plain.get("type") == "object":
        plain["additionalProperties"] = False
    return plain
