"""Fields of an answer: other spellings are accepted, and an invalid optional field doesn't invalidate its memory."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from apps.pipeline.core.enums import CATEGORY_ALIASES, Grounding, MemoryType, SourceConfidence, SpeechAct
from apps.pipeline.core.input_validation import check_json
from apps.pipeline.prompts.extract import ExtractedMemory

REQUIRED = frozenset(name for name, field in ExtractedMemory.model_fields.items() if field.is_required())
_DEFAULTS: Mapping[str, Any] = {"subject": "user", "evidence": "", "source_turn_ids": ()}
_MOST_TAGS = ExtractedMemory.model_fields["tags"].metadata[0].max_length

_TYPES = {"relationship": "relation", "facts": "fact", "preferences": "preference", "events": "event"}
_ENTITY_TYPES = {
    "organization": "organisation", "company": "organisation", "org": "organisation", "team": "organisation",
    "human": "person", "people": "person", "pet": "animal", "location": "place", "city": "place", "country": "place",
    "software": "product", "tool": "product", "app": "product",
}  # fmt: skip
_SPEECH_ACTS = {
    "role_play": "roleplay", "roleplaying": "roleplay", "fiction": "roleplay", "sarcastic": "sarcasm",
    "irony": "sarcasm", "ironic": "sarcasm", "joke": "sarcasm", "hypothesis": "hypothetical",
    "conditional": "hypothetical", "imagined": "hypothetical", "quote": "quoted", "reported": "quoted",
    "assertion": "asserted", "statement": "asserted", "directive": "asserted",
}  # fmt: skip
_SOURCE_CONFIDENCES = {
    "explicit": "direct", "high": "direct", "stated": "direct", "implied": "inferred", "implicit": "inferred",
    "medium": "inferred", "hedged": "speculated", "guess": "speculated", "uncertain": "speculated", "low": "speculated",
}  # fmt: skip
_DECISIONS = {"drop": "discard", "reject": "discard", "skip": "discard", "ignore": "discard", "store": "keep"}
_GROUNDINGS = {each.value.casefold(): each.value for each in Grounding} | {"not_supported": "NotSupported"}
_IMPORTANCE = {"low": 0.3, "medium": 0.5, "high": 0.8, "critical": 0.9}


def read_memory(proposed: Any) -> tuple[ExtractedMemory, tuple[str, ...]]:
    """Parse one object of an answer; return it with the names of invalid optional fields.

    Raises ValueError if it is not an object, or if a required field is missing or invalid.
    """
    if not isinstance(proposed, dict):
        raise ValueError(f"is {type(proposed).__name__}, not an object")
    fields, ignored = _readable(proposed)
    try:
        return ExtractedMemory.model_validate(fields), ignored
    except ValidationError as error:
        wrong = {str(each["loc"][0]): each["msg"] for each in error.errors(include_url=False, include_input=False)}
    for name in REQUIRED & wrong.keys():
        raise ValueError(f"{name}: {wrong[name]}")
    left = {name: value for name, value in fields.items() if name not in wrong}
    return ExtractedMemory.model_validate(left), (*ignored, *(f"{name}: {why}" for name, why in wrong.items()))


def _readable(proposed: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the known fields in canonical spelling, without nulls. Raises ValueError for bad required text."""
    fields, ignored = dict(_DEFAULTS), []
    for name in ExtractedMemory.model_fields:
        value = proposed.get(name)
        if value is None:
            continue
        try:
            check_json(value)
        except ValueError as error:
            if name in REQUIRED:
                raise
            ignored.append(f"{name}: {error}")
            continue
        fields[name] = _NORMALISE[name](value) if name in _NORMALISE else value
    fields["tags"] = _tags(proposed, fields)
    return fields, tuple(ignored)


def _tags(proposed: Mapping[str, Any], fields: Mapping[str, Any]) -> Any:
    """Add the tag that corresponds to another name for the type: a "decision" is an event with that tag."""
    word = _word(proposed.get("type"))
    alias = CATEGORY_ALIASES.get(word) if isinstance(word, str) else None
    more = (alias[1],) if alias and alias[1] else ()
    tags = fields.get("tags", ())
    return (*tags, *more)[:_MOST_TAGS] if isinstance(tags, list | tuple) else tags


def _word(value: Any) -> Any:
    """Return a word in the spelling of enums: "Role-Play " becomes "role_play"."""
    return re.sub(r"[\s-]+", "_", value.strip().casefold()) if isinstance(value, str) else value


def _spelt(others: Mapping[str, str], *, unknown: Callable[[str], Any] | None = None) -> Callable[[Any], Any]:
    def normalise(value: Any) -> Any:
        word = _word(value)
        ours = others.get(word, word) if isinstance(word, str) else word
        return unknown(ours) if unknown and isinstance(ours, str) else ours

    return normalise


def _type(value: Any) -> Any:
    """Return the type that a word means; an unknown one, such as "health", is a fact."""
    word = _word(value)
    alias = CATEGORY_ALIASES.get(word) if isinstance(word, str) and word not in set(MemoryType) else None
    if alias or not isinstance(word, str):
        return alias[0] if alias else word
    known = _TYPES.get(word, word)
    return known if known in set(MemoryType) else MemoryType.FACT.value


def _predicate(value: Any) -> Any:
    """Return a predicate in snake_case with ASCII letters: "vit à" becomes "vit_a"."""
    if not isinstance(value, str):
        return value
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", value)
    plain = unicodedata.normalize("NFKD", spaced).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_0123456789")[:64].rstrip("_")


def _object(value: Any) -> Any:
    if isinstance(value, str | int | float):
        return {"literal": str(value)}
    if isinstance(value, list):
        return {"list": [str(each) for each in value]}
    if not isinstance(value, dict):
        return value
    given = {name: each for name, each in value.items() if each is not None}
    if isinstance(given.get("literal"), int | float):
        given["literal"] = str(given["literal"])
    if "entity_type" in given:
        given["entity_type"] = _entity_type(given["entity_type"])
    return given


def _entity_type(value: Any) -> Any:
    return _spelt(_ENTITY_TYPES)(value)


def _importance(value: Any) -> Any:
    """Return an importance from 0 to 1; numbers from 2 on are on a scale to 10 or to 100."""
    word = _word(value)
    value = _IMPORTANCE.get(word, value) if isinstance(word, str) else value
    try:
        number = float(value)
    except (TypeError, ValueError):
        return value
    scale = next((scale for scale in (1.0, 10.0, 100.0) if number <= scale), 1.0)
    return 1.0 if 1 < number < 2 else number / scale


def _adjustment(value: Any) -> Any:
    return max(-0.2, min(0.2, value)) if isinstance(value, int | float) else value


def _listed(value: Any) -> Any:
    if isinstance(value, str):
        return [each.strip() for each in value.split(",") if each.strip()]
    return [str(each) for each in value] if isinstance(value, list) else value


def _first(value: Any) -> Any:
    return next(iter(value), None) if isinstance(value, list) else value


def _quote(value: Any) -> Any:
    return " … ".join(map(str, value)) if isinstance(value, list) else value


# An unknown value is not taken for the usual one: an unknown speech act is no assertion.
_NORMALISE: Mapping[str, Callable[[Any], Any]] = {
    "type": _type,
    "subject_type": _entity_type,
    "predicate": _predicate,
    "object": _object,
    "evidence": _quote,
    "source_turn_ids": _listed,
    "replaces": _listed,
    "same_as": _first,
    "contradicts": _listed,
    "source_confidence": _spelt(
        _SOURCE_CONFIDENCES, unknown=lambda word: word if word in set(SourceConfidence) else SourceConfidence.INFERRED
    ),
    "speech_act": _spelt(_SPEECH_ACTS, unknown=lambda word: word if word in set(SpeechAct) else SpeechAct.HYPOTHETICAL),
    "grounding_verdict": _spelt(
        _GROUNDINGS, unknown=lambda word: word if word in set(Grounding) else Grounding.UNKNOWN
    ),
    "polarity": _word,
    "importance": _importance,
    "topic": lambda value: str(_first(value) or "")[:64],
    "tags": _listed,
    "quality_decision": _spelt(_DECISIONS),
    "quality_reason": lambda value: str(value)[:200],
    "confidence_adjustment": _adjustment,
}
