"""The extraction prompt: what never changes comes first, for providers to cache; then what is known, then turns.

The static part stands in extract.xml beside this file. Its version is made of its own words, so that a recorded
answer is never taken for one to another prompt.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from apps.pipeline.core.enums import EntityType, Grounding, MemoryType, Polarity, SourceConfidence, SpeechAct
from apps.pipeline.core.model_calls import ModelRequest, Purpose
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.prompts.sections import ShownEntity, ShownMemory, ShownTurn, known_section, turns_section

STATIC = Path(__file__).with_name("extract.xml").read_text(encoding="utf-8")
VERSION = f"extract-{hashlib.sha256(STATIC.encode()).hexdigest()[:12]}"
# Vendors speak of 3.5 to 4 characters of English a token, and JSON takes more tokens than prose: 4 counts too few.
CHARACTERS_A_TOKEN = 4.0
JSON_ONLY = "Your last answer was not JSON. Write the JSON object alone, from its first brace to its last."
_ASK = 'List what is worth remembering of the turns marked new="true".'


class _Part(BaseModel):
    """A part of an answer; keys that we didn't ask for are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class ExtractedObject(_Part):
    """The object of a triple: one of literal, entity, list."""

    literal: str | None = Field(default=None, max_length=1_000)
    entity: str | None = Field(default=None, max_length=200)
    list: tuple[Annotated[str, Field(max_length=200)], ...] | None = Field(default=None, max_length=30)
    entity_type: EntityType | None = None


class ExtractedMemory(_Part):
    """One memory as the model proposes it; what has a default here may be left out."""

    type: MemoryType
    content: str = Field(min_length=3, max_length=1_000)
    subject: str = Field(min_length=1, max_length=200)
    subject_type: EntityType | None = None
    predicate: str = Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")
    object: ExtractedObject | None = None
    evidence: str = Field(max_length=2_000)
    source_turn_ids: tuple[str, ...] = Field(max_length=50)
    event_at: str | None = Field(default=None, max_length=40)
    valid_from: str | None = Field(default=None, max_length=40)
    valid_until: str | None = Field(default=None, max_length=40)
    replaces: tuple[Annotated[str, Field(max_length=16)], ...] = Field(default=(), max_length=20)
    same_as: str | None = Field(default=None, max_length=16)
    contradicts: tuple[Annotated[str, Field(max_length=16)], ...] = Field(default=(), max_length=20)
    source_confidence: SourceConfidence = SourceConfidence.DIRECT
    speech_act: SpeechAct = SpeechAct.ASSERTED
    polarity: Polarity = Polarity.POSITIVE
    predicate_is_stateful: bool = False
    importance: float = Field(default=0.5, ge=0, le=1)
    topic: str = Field(default="", max_length=64)
    tags: tuple[Annotated[str, Field(max_length=64)], ...] = Field(default=(), max_length=10)
    quality_decision: Literal["keep", "discard"] = "keep"
    quality_reason: str = Field(default="", max_length=200)
    confidence_adjustment: float = Field(default=0.0, ge=-0.2, le=0.2)
    grounding_verdict: Grounding = Grounding.SUPPORTED


class ExtractionAnswer(_Part):
    """The whole answer, as constrained decoding is told; what comes is checked object by object."""

    memories: tuple[ExtractedMemory, ...]
    forget: tuple[Annotated[str, Field(max_length=16)], ...] = Field(default=(), max_length=20)


SCHEMA = ExtractionAnswer.model_json_schema()


def render(
    *,
    turns: Sequence[ShownTurn],
    entities: Sequence[ShownEntity],
    memories: Sequence[ShownMemory],
    policy: ExtractionPolicy,
    again: bool = False,
) -> ModelRequest:
    """Return the request for the new ones among the turns; `again` after an answer that was no JSON."""
    asked = turns_section(turns=turns, most_characters=policy.max_turn_characters)
    return ModelRequest(
        purpose=Purpose.EXTRACT,
        prompt_version=VERSION,
        static=STATIC,
        context=known_section(entities=entities, memories=memories),
        turns="\n".join((asked, *((JSON_ONLY,) if again else ()), _ASK)),
        schema=SCHEMA,
        max_tokens=policy.max_answer_tokens,
        model=policy.model,
    )


def estimated_tokens(text: str) -> int:
    """Estimate the tokens of a text from below; no vendor's tokenizer works offline."""
    return int(len(text) / CHARACTERS_A_TOKEN)
