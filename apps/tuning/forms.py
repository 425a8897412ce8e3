"""Forms: the settings of a policy with their plain names, and what a rollback takes back."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from django import forms
from django.http import QueryDict

from apps.common.errors import Refused, Unfit
from apps.console.labels import label
from apps.console.paging import midnight, next_midnight
from apps.pipeline.core.identifiers import BadIdentifier, Prefix, parse
from apps.pipeline.core.policy import Policy
from apps.tenants.models import ApiKey
from apps.tuning.rollbacks.loading import named_selection

_NAMES = tomllib.loads(Path(__file__).with_name("setting_names.toml").read_text(encoding="utf-8"))
_EVERYDAY = "everyday"  # the section of what most projects change; all else is behind "Expert"
_RULES = ("pre_filter", "rules")  # these have their own page


def plain_name(path: tuple[str, ...]) -> tuple[str, str]:
    """Return the name and unit of a setting; one without an entry is named by its path."""
    *section, last = path
    if last == "unsure":
        embedder = section[-1] if "bands" in section else "other embedders"
        return f"{embedder}: unsure from", "similarity, −1 to 1"
    for key in (".".join(path), ".".join((*section, "*"))):
        if known := _NAMES["names"].get(key):
            name, unit = (*known, "")[:2]
            return f"{name} {_NAMES['words'].get(last, label(last))}" if key.endswith("*") else name, unit
    return " ".join(map(label, path[1:])), ""


class WordsField(forms.CharField):
    """Words, with commas or spaces between them."""

    def to_python(self, value: Any) -> Any:
        """Return the words."""
        return (super().to_python(value) or "").replace(",", " ").split()

    def prepare_value(self, value: Any) -> Any:
        """Return the words as one text."""
        return ", ".join(value) if isinstance(value, list) else value


class JsonListField(forms.JSONField):
    """A list in JSON; nothing stands for an empty one."""

    def to_python(self, value: Any) -> Any:
        """Return the list."""
        return super().to_python(value) or []


@dataclass(frozen=True, slots=True)
class Setting:
    """A field of the form, and what is told of it."""

    path: tuple[str, ...]
    field: forms.BoundField
    default: Any
    unit: str
    allowed: str  # the range of a number; empty without limits

    @property
    def value(self) -> Any:
        """Return the value in the policy."""
        return self.field.field.initial

    @property
    def is_custom(self) -> bool:
        """Return True if the value is not the default."""
        return bool(self.value != self.default)

    @property
    def default_text(self) -> str:
        """Return the default in words."""
        return in_words(self.default)


@dataclass(frozen=True, slots=True)
class SettingsSection:
    """The settings of one stage or area."""

    name: str
    settings: list[Setting]

    @property
    def about(self) -> str:
        """Return what they are about."""
        return str(_NAMES["about"].get(self.name, ""))

    @property
    def custom_count(self) -> int:
        """Return how many settings differ from their default."""
        return sum(setting.is_custom for setting in self.settings)

    @property
    def is_refused(self) -> bool:
        """Return True if one of its values was refused."""
        return any(setting.field.errors for setting in self.settings)


class SettingsForm(forms.Form):
    """A field for each setting of a policy, under its path; limits are checked when the policy is saved."""

    use_required_attribute = False

    def __init__(
        self,
        policy: Policy,
        data: QueryDict | None = None,
        *,
        initial: Mapping[str, Any] | None = None,
        is_read_only: bool = False,
    ) -> None:
        super().__init__(data, initial=dict(initial or {}), auto_id=False)
        self.settings: dict[str, Setting] = {}
        self._defaults = Policy().model_dump(mode="json")
        values = policy.model_dump(mode="json")
        for name, part in _schema()["properties"].items():
            self._add_settings((name,), values[name], part)
        for field in self.fields.values():
            field.disabled = is_read_only

    def _add_settings(self, path: tuple[str, ...], value: Any, part: Mapping[str, Any]) -> None:
        described = _resolved(part)
        if path == _RULES:
            return
        if isinstance(value, Mapping):
            known, others = described.get("properties", {}), described.get("additionalProperties", {})
            for name, inner in value.items():
                self._add_settings((*path, name), inner, known.get(name, others or {}))
            return
        default: Any = self._defaults
        for name in path:  # the defaults may lack a path
            default = default.get(name) if isinstance(default, Mapping) else None
        least, most = described.get("minimum", described.get("exclusiveMinimum")), described.get("maximum")
        allowed = ""  # the range of a number in words
        if least is not None and most is not None:
            allowed = f"{least:g} to {most:g}"
        elif least is not None:
            allowed = f"at least {least:g}"
        elif most is not None:
            allowed = f"at most {most:g}"
        key, (named, unit) = ".".join(path), plain_name(path)
        field = self.fields[key] = _field(described)
        field.label, field.initial, field.help_text = named, value, str(part.get("description", ""))
        self.settings[key] = Setting(path, self[key], default, unit, allowed)

    def sections(self) -> list[SettingsSection]:
        """Return the settings by section: first those that most projects change, then all others."""
        by_section = {_EVERYDAY: [self.settings[key] for key in _NAMES[_EVERYDAY]]}
        for key, setting in self.settings.items():
            if key not in _NAMES[_EVERYDAY]:
                by_section.setdefault(setting.path[0], []).append(setting)
        return [SettingsSection(name, found) for name, found in by_section.items()]

    def changes(self) -> dict[tuple[str, ...], Any]:
        """Return the values that differ from those of the policy, by path."""
        return {self.settings[key].path: self.cleaned_data[key] for key in self.changed_data}

    def refuse(self, refused: Refused) -> None:
        """Add the reason why the values were refused to the setting that it names."""
        key = refused.at.strip("/").replace("/", ".") if isinstance(refused, Unfit) else ""
        self.add_error(next((name for name in self.fields if f"{key}.".startswith(f"{name}.")), None), str(refused))

    @property
    def problem(self) -> str:
        """Return the first reason why a value was refused, with its setting; empty without one."""
        for key, errors in self.errors.items():
            return f"{key.replace('.', ' ')}: {errors[0]}" if key in self.fields else str(errors[0])
        return ""


def in_words(value: Any) -> str:
    """Return the value of a setting in words."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        is_json = any(not isinstance(each, str) for each in value)
        return json.dumps(value, ensure_ascii=False) if is_json else ", ".join(value) or "none"
    return str(value) or "empty"


_NO_NUMBER = {"invalid": "must be a number", "required": "must be a number"}


def _field(part: Mapping[str, Any]) -> forms.Field:
    """Return the field of a setting with this JSON Schema."""
    number = forms.TextInput(attrs={"inputmode": "decimal"})
    items = _resolved(part.get("items", {}))
    match part.get("type"):
        case "boolean":
            return forms.BooleanField(required=False)
        case "integer":
            return forms.IntegerField(widget=number, error_messages=_NO_NUMBER)
        case "number":
            return forms.FloatField(widget=number, error_messages=_NO_NUMBER)
        case "array" if "enum" in items:
            choices = [(each, each) for each in items["enum"]]
            return forms.MultipleChoiceField(choices=choices, required=False, widget=forms.CheckboxSelectMultiple)
        case "array" if items.get("type") == "string":
            return WordsField(required=False)
        case "array":
            area = forms.Textarea(attrs={"rows": 2, "hx-disable": True})
            return JsonListField(required=False, widget=area, error_messages={"invalid": "must be JSON"})
    if "enum" in part:
        return forms.ChoiceField(choices=[(each, each) for each in part["enum"]])
    return forms.CharField(required=False)


@cache
def _schema() -> dict[str, Any]:
    return Policy.model_json_schema()


def _resolved(part: Mapping[str, Any]) -> dict[str, Any]:
    """Follow a `$ref`, which pydantic wraps in `allOf` next to a default or description."""
    wrapped = part.get("allOf", [{}])[0]
    name = part.get("$ref", wrapped.get("$ref", ""))
    return dict(_schema()["$defs"][name.rpartition("/")[2]]) if name else dict(part)


# By the place that `named_selection` refuses: the field, and the sentence.
_PROBLEMS: dict[str, tuple[str | None, str]] = {
    "/selection": (None, "choose what to take back: fill in at least one field"),
    "/selection/user_id": ("user", "This project has no user with this ID."),
    "/selection/session_id": ("session", "This user has no session with this ID."),
    "/selection/version": ("version", "This project has no version with this number."),
    "/selection/until": ("until", "The end has to be after the beginning."),
    "/selection/replay_id": (None, "this project has no such replay"),
    "/selection/trace_ids": ("trace", "These are too many traces. Choose them by user, key or time."),
}


_NO_KEY = {"invalid_choice": "This project has no such key."}


class RollbackForm(forms.Form):
    """The traces that a rollback takes back: they meet all conditions. `selection` is what it stores."""

    user = forms.CharField(max_length=255, required=False, label="User ID")
    session = forms.CharField(max_length=255, required=False, label="Session ID")
    version = forms.IntegerField(
        required=False,
        label="Configuration version",
        widget=forms.TextInput,
        error_messages={"invalid": "Enter the number of a configuration version."},
    )
    key = forms.ModelChoiceField(
        ApiKey.objects.none(), required=False, label="API key", empty_label="any", error_messages=_NO_KEY
    )
    since = forms.DateField(required=False, label="From", widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(required=False, label="To", widget=forms.DateInput(attrs={"type": "date"}))
    trace = forms.CharField(
        required=False, label="Trace IDs", widget=forms.TextInput(attrs={"placeholder": f"{Prefix.TRACE}_…"})
    )
    replay = forms.CharField(required=False, widget=forms.HiddenInput)
    rerun = forms.BooleanField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, project_id: UUID, **options: Any) -> None:
        super().__init__(*args, **options)
        self._project_id = project_id
        self.selection: dict[str, Any] = {}
        keys = ApiKey.objects.filter(project_id=project_id).order_by("-created_at")
        cast(forms.ModelChoiceField, self.fields["key"]).queryset = keys

    def clean_trace(self) -> list[UUID]:
        """Return the identifiers, with commas or spaces between them."""
        try:
            return [parse(Prefix.TRACE, each) for each in self.cleaned_data["trace"].replace(",", " ").split()]
        except BadIdentifier as bad:
            raise forms.ValidationError("This is no trace ID. One begins with trc_.") from bad

    def clean_replay(self) -> UUID | None:
        """Return the identifier."""
        try:
            return parse(Prefix.REPLAY, self.cleaned_data["replay"]) if self.cleaned_data["replay"] else None
        except BadIdentifier as bad:
            raise forms.ValidationError("this is no replay") from bad

    def clean(self) -> None:
        """Find what is named."""
        given = self.cleaned_data
        if given.get("session") and not given.get("user"):
            self.add_error("user", "A session needs its user.")
        if self.errors:
            return
        try:
            self.selection = named_selection(
                project_id=self._project_id,
                trace_ids=given["trace"],
                version=given["version"],
                api_key_id=given["key"] and given["key"].pk,
                user_id=given["user"],
                session_id=given["session"],
                replay_id=given["replay"],
                since=midnight(str(given["since"])),
                until=next_midnight(str(given["until"])),
            )
        except Unfit as unfit:
            self.add_error(*_PROBLEMS.get(unfit.at, (None, str(unfit))))
