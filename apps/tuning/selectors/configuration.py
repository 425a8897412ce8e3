"""Settings with their names, values and versions."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from apps.console.labels import label
from apps.pipeline.core.policy import Policy


@dataclass(frozen=True, slots=True)
class PlainSetting:
    """How people read a setting."""

    name: str
    unit: str = ""


_SIMILARITY = "similarity, −1 to 1"
_POINTS = "points of 100"
_WEIGHT = "weight"
_CONFIDENCE = "confidence"

_WORDS = {
    "supported": "supported",
    "partial": "partial",
    "unknown": "unknown",
    "not_supported": "not supported",
}
_WEIGHTS = {
    "words": "words",
    "meaning": "meaning",
    "questions": "answered questions",
    "session": "words of the session",
    "named": "a named subject",
    "importance": "importance",
    "recency": "recency",
    "confidence": "confidence",
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
            shown = _WEIGHTS[last] if "weights" in key else _WORDS.get(last, label(last))
            return PlainSetting(f"{known.name} {shown}", known.unit) if key.endswith("*") else known
    return _by_path(path)


def _by_path(path: tuple[str, ...]) -> PlainSetting:
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


def settings_sections(
    policy: Policy,
    *,
    typed: Mapping[str, Sequence[str]] | None = None,
    problems: Mapping[str, str] | None = None,
) -> list[SettingsSection]:
    """Return the settings of a policy by section: first those that most projects change, then all others.

    By the keys of settings, they have what was typed into a refused form, and why it was refused.
    """
    values, defaults = policy.model_dump(mode="json"), _defaults()

    def filled(each: Setting) -> Setting:
        given = tuple(typed[each.key]) if typed and each.key in typed else None
        problem = (problems or {}).get(each.key, "")
        return replace(each, default=_at(defaults, each.path), typed=given, problem=problem)

    of_parts = {
        name: [filled(each) for each in _settings((name,), values[name], part)]
        for name, part in _schema()["properties"].items()
    }
    by_key = {each.key: each for settings in of_parts.values() for each in settings}
    others = {name: [each for each in found if each.key not in _EVERYDAY] for name, found in of_parts.items()}
    shown = {EVERYDAY: [by_key[key] for key in _EVERYDAY]} | others
    return [SettingsSection(name, _ABOUT.get(name, ""), tuple(found)) for name, found in shown.items() if found]


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
