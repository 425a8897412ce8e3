"""The settings of a policy as a form, with their plain names."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from django import forms
from django.http import QueryDict

from apps.common.errors import Refused, Unfit
from apps.console.labels import label
from apps.pipeline.core.policy import Policy


class PlainSetting(NamedTuple):
    """How people read a setting."""

    name: str
    unit: str = ""


_SIMILARITY = "similarity, −1 to 1"
_POINTS = "points of 100"
_WEIGHT = "weight"
_CONFIDENCE = "confidence"

# Last parts of paths whose own label would be unclear.
_WORDS = {
    "questions": "answered questions",
    "session": "words of the session",
    "named": "a named subject",
    "evidence": "own score",
}
_PLAIN: Mapping[str, PlainSetting] = {
    "pre_filter.trusted_roles": PlainSetting("Roles whose turns are remembered"),
    "pre_filter.min_letters": PlainSetting("Least letters of a turn", "letters or digits"),
    "pre_filter.repeat_window": PlainSetting("Repeats are looked for in", "previous turns"),
    "pre_filter.scan_characters": PlainSetting("Rules read at most", "characters"),
    "redaction.secret": PlainSetting("Secrets"),
    "redaction.card": PlainSetting("Payment cards"),
    "redaction.iban": PlainSetting("Bank accounts (IBAN)"),
    "redaction.national_id": PlainSetting("National identifiers"),
    "redaction.phone": PlainSetting("Phone numbers"),
    "redaction.email": PlainSetting("E-mail addresses"),
    "redaction.items": PlainSetting("Values of items"),
    "redaction.phone_regions": PlainSetting("Countries of phone numbers", "codes"),
    "redaction.custom": PlainSetting("Patterns of this project", "JSON"),
    "extraction.extractor": PlainSetting("Extracted by"),
    "extraction.model": PlainSetting("Model of this project"),
    "extraction.on_model_failure": PlainSetting("When the model fails"),
    "extraction.batching": PlainSetting("When the model is asked"),
    "extraction.batch_quiet_seconds": PlainSetting("Balanced: after a pause of", "seconds"),
    "extraction.batch_turns": PlainSetting("Balanced: when so many turns wait", "turns"),
    "extraction.skip_idle_turns": PlainSetting("Call no model for idle turns"),
    "extraction.min_confidence": PlainSetting("Candidates below are dropped", _CONFIDENCE),
    "extraction.max_per_turn": PlainSetting("Candidates of a turn, at most", "candidates"),
    "extraction.max_per_call": PlainSetting("Candidates of a model call, at most", "candidates"),
    "extraction.max_turns": PlainSetting("Turns of a model call, at most", "turns"),
    "extraction.context_turns": PlainSetting("Earlier turns as context", "turns"),
    "extraction.max_entities": PlainSetting("Known entities in the prompt", "entities"),
    "extraction.max_known_tokens": PlainSetting("Known memories in the prompt", "tokens"),
    "extraction.min_session_turns": PlainSetting("Sessions are reviewed from", "turns of the user"),
    "extraction.review_seen_sessions": PlainSetting("Review sessions that one call has seen"),
    "extraction.max_per_session": PlainSetting("Candidates of a session, at most", "candidates"),
    "extraction.max_session_turns": PlainSetting("Turns of a reviewed session, at most", "turns"),
    "extraction.max_session_turn_characters": PlainSetting("Each turn of a reviewed session, at most", "characters"),
    "extraction.session_memory_days": PlainSetting("What a session showed is current for", "days"),
    "extraction.max_answer_tokens": PlainSetting("Answer of the model, at most", "tokens"),
    "extraction.max_turn_characters": PlainSetting("Each turn in the prompt, at most", "characters"),
    "extraction.pattern_reliability": PlainSetting("Reliability of notes", "0 to 1"),
    "extraction.model_reliability": PlainSetting("Reliability of the model", "0 to 1"),
    "resolution.max_entities": PlainSetting("Known entities that are compared", "entities"),
    "resolution.fuzzy_accept": PlainSetting("Names are the same from", _POINTS),
    "resolution.fuzzy_margin": PlainSetting("Lead over the second best name", _POINTS),
    "dedupe.neighbours": PlainSetting("Near memories that are compared", "memories"),
    "conflict.confidence_slack": PlainSetting("A newer value may be less confident by", _CONFIDENCE),
    "conflict.trust.*": PlainSetting("Trust in statements of the role", "rank"),
    "sharing.memory_sharing": PlainSetting("What an agent tells is for"),
    "judges.references": PlainSetting("Ask a model whom a reference means"),
    "judges.pairs": PlainSetting("Ask a model about undecided pairs"),
    "judges.most_questions": PlainSetting("Questions of a model call, at most", "questions"),
    "judges.gate": PlainSetting("Unseen pairs are asked about from", _SIMILARITY),
    "judges.shown_gate": PlainSetting("Seen pairs are asked about from", _SIMILARITY),
    "confidence.source_weight": PlainSetting("Share of the way it was said", _WEIGHT),
    "confidence.extractor_weight": PlainSetting("Share of the extractor", _WEIGHT),
    "confidence.recurrence_weight": PlainSetting("Share of repetition", _WEIGHT),
    "confidence.source.*": PlainSetting("Value when it was said as", "0 to 1"),
    "confidence.grounding.*": PlainSetting("Added when the turns support it as", _CONFIDENCE),
    "confidence.max_adjustment": PlainSetting("Correction by the extractor, at most", _CONFIDENCE),
    "confidence.not_asserted_cap": PlainSetting("Hypothetical or quoted, at most", _CONFIDENCE),
    "confidence.uncertain_cap": PlainSetting("Kept as uncertain, at most", _CONFIDENCE),
    "confidence.confirmed_cap": PlainSetting("Not said as a fact but confirmed, at most", _CONFIDENCE),
    "confidence.review_weight": PlainSetting("Added by an approval", _CONFIDENCE),
    "confidence.review_below": PlainSetting("Review is needed below", _CONFIDENCE),
    "index.questions": PlainSetting("Questions of a memory", "questions"),
    "index.model_questions": PlainSetting("Ask a model for these questions"),
    "retrieval.least_confidence.*": PlainSetting("Least confidence at stakes", _CONFIDENCE),
    "retrieval.min_score": PlainSetting("Results need a score of at least", "0 to 1"),
    "retrieval.weights.*": PlainSetting("Verbatim texts:", _WEIGHT),
    "retrieval.statement_weights.*": PlainSetting("Statements:", _WEIGHT),
    "retrieval.context_weight": PlainSetting("Words of the source turns count", "share"),
    "retrieval.neighbour_weight": PlainSetting("Neighbours in the session get", "share"),
    "retrieval.saturation": PlainSetting("Saturation of repeated words"),
    "retrieval.length_normalisation": PlainSetting("Length normalisation", "0 to 1"),
    "retrieval.others_share": PlainSetting("Statements about others keep", "share"),
    "retrieval.no_answer_share": PlainSetting("Statements without the asked kind keep", "share"),
    "retrieval.recency_half_life_days": PlainSetting("Recency halves in", "days"),
    "decay.importance": PlainSetting("Share of importance", _WEIGHT),
    "decay.freshness": PlainSetting("Share of freshness", _WEIGHT),
    "decay.access": PlainSetting("Share of use", _WEIGHT),
    "decay.half_life_days.*": PlainSetting("Freshness halves in, for the type", "days"),
    "decay.archive_below": PlainSetting("Archived below", "0 to 1"),
    "retention.turn_days": PlainSetting("Texts of turns are kept for", "days"),
    "retention.trace_days": PlainSetting("Traces are kept for", "days"),
    "retention.model_call_days": PlainSetting("Model calls are kept for", "days"),
    "retention.alert_days": PlainSetting("Resolved alerts are kept for", "days"),
    "retention.ledger_days": PlainSetting("Entries of the ledger are kept for", "days"),
}


def plain_setting(path: tuple[str, ...]) -> PlainSetting:
    """Return the name and unit of a setting; one without an entry is named by its path."""
    *section, last = path
    if last == "unsure":
        embedder = section[-1] if "bands" in section else "other embedders"
        return PlainSetting(f"{embedder}: unsure from", _SIMILARITY)
    for key in (".".join(path), ".".join((*section, "*"))):
        if known := _PLAIN.get(key):
            shown = f"{known.name} {_WORDS.get(last, label(last))}"
            return PlainSetting(shown, known.unit) if key.endswith("*") else known
    return PlainSetting(" ".join(map(label, path[1:])))


# What most projects change, if anything; all else is behind "Expert".
EVERYDAY = "everyday"
_EVERYDAY = (
    "extraction.extractor",
    "extraction.model",
    "extraction.batching",
    "extraction.on_model_failure",
    "confidence.review_below",
    "retrieval.min_score",
    "sharing.memory_sharing",
    "redaction.phone",
    "redaction.email",
    "retention.turn_days",
    "retention.trace_days",
    "decay.archive_below",
)
_RULES = ("pre_filter", "rules")  # these have their own page
_ABOUT = {
    EVERYDAY: "Who reads what is said, what a person looks at first, and how long things are kept.",
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
    plain: PlainSetting
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
    about: str
    settings: list[Setting]

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
        key, plain = ".".join(path), plain_setting(path)
        field = self.fields[key] = _field(described)
        field.label, field.initial, field.help_text = plain.name, value, str(part.get("description", ""))
        self.settings[key] = Setting(path, self[key], default, plain, allowed)

    def sections(self) -> list[SettingsSection]:
        """Return the settings by section: first those that most projects change, then all others."""
        by_section = {EVERYDAY: [self.settings[key] for key in _EVERYDAY]}
        for key, setting in self.settings.items():
            if key not in _EVERYDAY:
                by_section.setdefault(setting.path[0], []).append(setting)
        return [SettingsSection(name, _ABOUT.get(name, ""), found) for name, found in by_section.items()]

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
