"""One memory of an answer: other spellings are read, and an invalid optional field costs only itself."""

import re
import unicodedata
from collections.abc import Callable
from enum import StrEnum
from html import unescape
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema
from pydantic_core.core_schema import ValidationInfo

from apps.pipeline.core.enums import (
    BINDING_TAGS,
    CATEGORY_ALIASES,
    EntityType,
    MemoryType,
    Polarity,
    SourceConfidence,
    SpeechAct,
)
from apps.pipeline.core.input_validation import check_json


def _word(value: str) -> str:
    """Return the letters of a word: "Role-Play " and "roleplay" are one, and so are both spellings of -isation."""
    return re.sub(r"[^a-z]", "", value.casefold()).replace("ization", "isation")


def _spelt(kind: type[StrEnum], *, unknown: StrEnum | None) -> BeforeValidator:
    by_word = {_word(each.value): each for each in kind}
    return BeforeValidator(lambda value: by_word.get(_word(value), unknown) if isinstance(value, str) else value)


def _snake_case(value: Any) -> Any:
    """Return a predicate in snake_case with ASCII letters: "vit à" becomes "vit_a"."""
    if not isinstance(value, str):
        return value
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", value)
    plain = unicodedata.normalize("NFKD", spaced).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_0123456789")[:64].rstrip("_")


def _unit(value: Any) -> Any:
    """Return an importance from 0 to 1; numbers from 2 on are on a scale to 10 or to 100."""
    number = float(value)
    scale = next((scale for scale in (1.0, 10.0, 100.0) if number <= scale), 1.0)
    return 1.0 if 1 < number < 2 else number / scale


def _listed(value: Any) -> Any:
    return [each.strip() for each in value.split(",") if each.strip()] if isinstance(value, str) else value


def _first(value: Any) -> Any:
    return next(iter(value), "") if isinstance(value, list) else value


def _joined(mark: str) -> BeforeValidator:
    return BeforeValidator(lambda value: mark.join(map(str, value)) if isinstance(value, list) else str(value))


def _unescaped(value: Any) -> Any:
    if isinstance(value, list):
        return [_unescaped(each) for each in value]
    return unescape(value) if isinstance(value, str) else value


_MemoryId = Annotated[str, Field(max_length=16)]
_MemoryIds = Annotated[tuple[_MemoryId, ...], BeforeValidator(_listed), Field(max_length=20)]
_Moment = Annotated[str, Field(max_length=40)]


class ExtractedMemory(BaseModel):
    """One memory as the model proposes it; what has a default here may be left out."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, hide_input_in_errors=True)

    type: Annotated[MemoryType, _spelt(MemoryType, unknown=MemoryType.FACT)] = MemoryType.FACT
    content: str = Field(min_length=3, max_length=1_000)
    subject: str = Field(default="user", min_length=1, max_length=200)
    subject_type: Annotated[EntityType | None, _spelt(EntityType, unknown=None)] = None
    predicate: Annotated[str, BeforeValidator(_snake_case)] = Field(default="", pattern=r"^([a-z][a-z0-9_]{0,63})?$")
    value: Annotated[str, _joined(", "), Field(max_length=1_000)] = ""
    evidence: Annotated[str, _joined(" … "), Field(max_length=2_000)]
    event_at: _Moment | None = None
    valid_from: _Moment | None = None
    valid_until: _Moment | None = None
    same_as: Annotated[_MemoryId, BeforeValidator(_first)] = ""
    replaces: _MemoryIds = ()
    contradicts: _MemoryIds = ()
    source_confidence: Annotated[SourceConfidence, _spelt(SourceConfidence, unknown=SourceConfidence.INFERRED)] = (
        SourceConfidence.DIRECT
    )
    # An unknown word is no assertion.
    speech_act: Annotated[SpeechAct, _spelt(SpeechAct, unknown=SpeechAct.HYPOTHETICAL)] = SpeechAct.ASSERTED
    polarity: Annotated[Polarity, _spelt(Polarity, unknown=Polarity.POSITIVE)] = Polarity.POSITIVE
    importance: Annotated[float, BeforeValidator(_unit), Field(ge=0, le=1)] = 0.5
    topic: Annotated[str, BeforeValidator(lambda value: str(_first(value))[:64])] = ""
    tags: Annotated[tuple[Annotated[str, Field(max_length=64)], ...], BeforeValidator(_listed)] = Field(
        default=(), max_length=10
    )
    # Keys of former prompts: an `object` could be a literal, an entity or a list.
    value_names_entity: SkipJsonSchema[bool] = False
    value_type: SkipJsonSchema[Annotated[EntityType | None, _spelt(EntityType, unknown=None)]] = None
    predicate_is_stateful: SkipJsonSchema[bool | None] = None

    @property
    def is_slot(self) -> bool:
        """Return True if the value is the only one at a time; that of a relation may be one of several."""
        if self.predicate_is_stateful is not None:
            return self.predicate_is_stateful
        return bool(self.value) and self.type is not MemoryType.RELATION

    @model_validator(mode="before")
    @classmethod
    def _read_keys(cls, given: Any) -> Any:
        """Leave out nulls, read former keys, and infer a type that was left out."""
        if not isinstance(given, dict):
            return given
        fields = {"evidence": ""} | {key: each for key, each in given.items() if each is not None}
        value = fields.pop("object", None)
        if value is not None:
            fields.setdefault("predicate_is_stateful", False)
        if isinstance(value, dict):
            fields |= {"value_names_entity": value.get("entity") is not None, "value_type": value.get("entity_type")}
            value = next((value[key] for key in ("entity", "literal", "list") if value.get(key) is not None), None)
        if value is not None:
            fields["value"] = value
        # A prompt shows "&" as "&amp;", and models copy it. A quote is compared with its turn in both forms.
        fields = {key: each if key == "evidence" else _unescaped(each) for key, each in fields.items()}
        tags = _listed(fields.get("tags", []))
        if alias := CATEGORY_ALIASES.get(str(fields.get("type", "")).casefold()):
            fields["type"], tag = alias
            fields["tags"] = [*tags, tag] if tag and isinstance(tags, list) else tags
        elif "type" not in fields:
            is_rule = isinstance(tags, list) and any(tag in tags for tag in BINDING_TAGS)
            kind = MemoryType.PREFERENCE if is_rule else MemoryType.FACT
            fields["type"] = MemoryType.EVENT if "event_at" in fields else kind
        return fields

    @field_validator("*", mode="wrap")
    @classmethod
    def _or_default(cls, value: Any, read: Callable[[Any], Any], info: ValidationInfo) -> Any:
        """Read a field; an invalid optional one has its default, and its name is noted."""
        name = info.field_name or ""
        field = cls.model_fields[name]
        try:
            check_json(value)
            return read(value)
        except (ValueError, TypeError) as error:
            if field.is_required():
                raise
            why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
            (info.context or {}).setdefault("ignored", []).append(f"{name}: {why}")
            return field.get_default()


def read_memory(proposed: Any) -> tuple[ExtractedMemory, tuple[str, ...]]:
    """Read one object of an answer; return it with the invalid optional fields.

    Raises ValueError if it is no object, or without content.
    """
    context: dict[str, list[str]] = {"ignored": []}
    memory = ExtractedMemory.model_validate(proposed, context=context)
    return memory, tuple(context["ignored"])
