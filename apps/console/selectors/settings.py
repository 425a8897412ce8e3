"""A policy as settings that a person can change, each described by the policy's own schema."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apps.pipeline.core.policy import Policy

_RULES = ("pre_filter", "rules")  # these have a page of their own


@dataclass(frozen=True, slots=True)
class Setting:
    """One value and what may stand in its place."""

    path: tuple[str, ...]
    value: Any
    kind: str  # boolean, integer, number, string, choice or list
    help: str = ""
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None

    @property
    def key(self) -> str:
        """Return the name of its field in the form."""
        return ".".join(self.path)

    @property
    def name(self) -> str:
        """Return its name within its section."""
        return " ".join(self.path[1:]).replace("_", " ")

    def read(self, given: list[str]) -> Any:
        """Read what a form sent. Raises ValueError for no number."""
        text = given[-1].strip() if given else ""
        match self.kind:
            case "boolean":
                return bool(given)
            case "integer":
                return int(text)
            case "number":
                return float(text)
            case "list":
                return [each for each in given if each in self.choices]
        return text


@dataclass(frozen=True, slots=True)
class Section:
    """The settings of one stage or concern."""

    name: str
    about: str
    settings: tuple[Setting, ...]


def sections_of(policy: Policy) -> list[Section]:
    """Return a policy's settings, section by section."""
    schema = Policy.model_json_schema()
    values = policy.model_dump(mode="json")
    return [
        Section(
            name=name,
            about=str(_resolved(part, schema).get("description", "")).split("\n")[0],
            settings=tuple(_settings((name,), values[name], part, schema)),
        )
        for name, part in schema["properties"].items()
    ]


def _settings(
    path: tuple[str, ...], value: Any, part: Mapping[str, Any], schema: Mapping[str, Any]
) -> Iterator[Setting]:
    described = _resolved(part, schema)
    if path == _RULES:
        return
    if isinstance(value, Mapping):
        known, others = described.get("properties", {}), described.get("additionalProperties", {})
        for name, inner in value.items():
            yield from _settings((*path, name), inner, known.get(name, others or {}), schema)
        return
    yield _setting(path, value, described | {"description": part.get("description", "")}, schema)


def _setting(path: tuple[str, ...], value: Any, part: Mapping[str, Any], schema: Mapping[str, Any]) -> Setting:
    items = _resolved(part.get("items", {}), schema)
    kind = "list" if part.get("type") == "array" else "choice" if "enum" in part else str(part.get("type", "string"))
    return Setting(
        path=path,
        value=value,
        kind=kind,
        help=str(part.get("description", "")),
        choices=tuple(items.get("enum", part.get("enum", ()))),
        least=part.get("minimum", part.get("exclusiveMinimum")),
        most=part.get("maximum"),
    )


def _resolved(part: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Follow a reference, which pydantic wraps when a default or description stands beside it."""
    wrapped = part.get("allOf", [{}])[0]
    name = part.get("$ref", wrapped.get("$ref", ""))
    return dict(schema["$defs"][name.rpartition("/")[2]]) if name else dict(part)
