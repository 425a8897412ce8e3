"""A policy as editable settings, described by the JSON schema of the policy."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from apps.console.selectors.setting_names import plain_setting
from apps.pipeline.core.policy import Policy

_RULES = ("pre_filter", "rules")  # these have their own page
_ABOUT = {
    "redaction": "What becomes of secrets and personal numbers before anything is stored.",
    "pre_filter": "Which turns are dropped before extraction.",
    "extraction": "How candidates are extracted from turns, by a model, or by a table and notes.",
    "resolution": "How names are matched to known entities; similarities from 0 to 100.",
    "dedupe": "When two memories count as the same; cosine similarities by embedding model.",
    "conflict": "When a newer statement supersedes an older one.",
    "sharing": "Whether the agents of a user share what they tell of the user.",
    "judges": "When a model is asked about what the rules leave open.",
    "confidence": "The weights of the confidence score, and when a memory needs review.",
    "index": "What is indexed for search.",
    "retrieval": "Which memories are returned at which stakes, and how they are ranked.",
    "decay": "When unimportant, old and unused memories are archived.",
    "retention": "After how many days stored data is deleted; 0 keeps it without limit.",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting with its allowed values."""

    path: tuple[str, ...]
    value: Any
    kind: str  # boolean, integer, number, string, choice, list (of choices), words or json
    help: str = ""
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    default: Any = None
    typed: tuple[str, ...] | None = None  # into a form that was refused
    problem: str = ""  # why it was

    @property
    def key(self) -> str:
        """Return the name of the form field."""
        return ".".join(self.path)

    @property
    def name(self) -> str:
        """Return the plain name."""
        return plain_setting(self.path).name

    @property
    def unit(self) -> str:
        """Return the unit of a number, or what a text is."""
        return plain_setting(self.path).unit

    @property
    def allowed(self) -> str:
        """Return the range of a number in words; empty without limits."""
        match (self.least, self.most):
            case (None, None):
                return ""
            case (least, None):
                return f"at least {least:g}"
            case (None, most):
                return f"at most {most:g}"
        return f"{self.least:g} to {self.most:g}"

    @property
    def is_custom(self) -> bool:
        """Return True if the value is not the default."""
        return bool(self.value != self.default)

    @property
    def default_text(self) -> str:
        """Return the default as it stands in a text field."""
        return replace(self, value=self.default).described

    @property
    def described(self) -> str:
        """Return the value in words."""
        match self.kind:
            case "boolean":
                return "on" if self.value else "off"
            case "list":
                return ", ".join(self.value) or "none"
        return self.text or "empty"

    @property
    def text(self) -> str:
        """Return the value as it stands in a text field."""
        match self.kind:
            case "words":
                return ", ".join(self.value)
            case "json":
                return json.dumps(self.value, ensure_ascii=False) if self.value else ""
        return str(self.value)

    @property
    def shown(self) -> Any:
        """Return what its field shows: what was typed into a refused form, else the value."""
        if self.typed is None:
            return self.value if self.kind in ("boolean", "list", "choice") else self.text
        match self.kind:
            case "boolean":
                return bool(self.typed)
            case "list":
                return self.typed
        return self.typed[-1] if self.typed else ""

    def is_changed(self, given: list[str]) -> bool:
        """Return True if submitted values differ from the value, or can't be read."""
        try:
            return bool(self.read(given) != self.value)
        except ValueError:
            return True

    def read(self, given: list[str]) -> Any:
        """Parse submitted values. Raises ValueError if a number or JSON is expected and missing."""
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
            case "words":
                return text.replace(",", " ").split()
            case "json":
                return json.loads(text or "[]")
        return text


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A setting that a form changes, with both values in words."""

    section: str
    setting: Setting
    after: str


def changes_in_words(
    sections: "Sequence[SettingsSection]", changed: Mapping[tuple[str, ...], Any]
) -> list[SettingChange]:
    """Return what a form changes, in the order of the settings."""
    return [
        SettingChange(section.name, setting, replace(setting, value=changed[setting.path]).described)
        for section in sections
        for setting in section.settings
        if setting.path in changed
    ]


@dataclass(frozen=True, slots=True)
class SettingsSection:
    """The settings of one stage or area."""

    name: str
    about: str
    settings: tuple[Setting, ...]

    @property
    def custom_count(self) -> int:
        """Return how many settings differ from their default."""
        return sum(setting.is_custom for setting in self.settings)

    @property
    def is_refused(self) -> bool:
        """Return True if one of its values was refused."""
        return any(setting.problem for setting in self.settings)


def with_input(
    sections: Sequence[SettingsSection], *, typed: Mapping[str, Sequence[str]], problems: Mapping[str, str]
) -> list[SettingsSection]:
    """Return sections with what was typed into a refused form and why it was refused, by the keys of settings."""
    return [
        replace(
            section,
            settings=tuple(
                replace(
                    setting,
                    typed=tuple(typed[setting.key]) if setting.key in typed else None,
                    problem=problems.get(setting.key, ""),
                )
                for setting in section.settings
            ),
        )
        for section in sections
    ]


def settings_sections(policy: Policy) -> list[SettingsSection]:
    """Return the settings of a policy by section."""
    values, defaults = policy.model_dump(mode="json"), _defaults()
    return [
        SettingsSection(
            name=name,
            about=_ABOUT.get(name, ""),
            settings=tuple(
                replace(each, default=_at(defaults, each.path)) for each in _settings((name,), values[name], part)
            ),
        )
        for name, part in _schema()["properties"].items()
    ]


@cache
def _schema() -> dict[str, Any]:
    return Policy.model_json_schema()


@cache
def _defaults() -> dict[str, Any]:
    return Policy().model_dump(mode="json")


def _at(values: Any, path: tuple[str, ...]) -> Any:
    """Return the value at a path; None for a path that the defaults lack."""
    for name in path:
        values = values.get(name) if isinstance(values, Mapping) else None
    return values


def _settings(path: tuple[str, ...], value: Any, part: Mapping[str, Any]) -> Iterator[Setting]:
    described = _resolved(part)
    if path == _RULES:
        return
    if isinstance(value, Mapping):
        known, others = described.get("properties", {}), described.get("additionalProperties", {})
        for name, inner in value.items():
            yield from _settings((*path, name), inner, known.get(name, others or {}))
        return
    items = _resolved(described.get("items", {}))
    yield Setting(
        path=path,
        value=value,
        kind=_kind(described, items),
        help=str(part.get("description", "")),
        choices=tuple(items.get("enum", described.get("enum", ()))),
        least=described.get("minimum", described.get("exclusiveMinimum")),
        most=described.get("maximum"),
    )


def _kind(part: Mapping[str, Any], items: Mapping[str, Any]) -> str:
    if part.get("type") == "array":
        return "list" if "enum" in items else "words" if items.get("type") == "string" else "json"
    return "choice" if "enum" in part else str(part.get("type", "string"))


def _resolved(part: Mapping[str, Any]) -> dict[str, Any]:
    """Follow a `$ref`, which pydantic wraps in `allOf` next to a default or description."""
    wrapped = part.get("allOf", [{}])[0]
    name = part.get("$ref", wrapped.get("$ref", ""))
    return dict(_schema()["$defs"][name.rpartition("/")[2]]) if name else dict(part)
