"""The extraction prompt: what never changes comes first, for providers to cache; then what is known, then turns.

The static part stands in extract.xml beside this file. Its version is made of its own words, so that a recorded
answer is never taken for one to another prompt.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.model_calls import ModelRequest, Purpose
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.prompts.extracted_memory import ExtractedMemory
from apps.pipeline.prompts.sections import ShownTurn, known_section, turns_section

STATIC = Path(__file__).with_name("extract.xml").read_text(encoding="utf-8")
VERSION = f"extract-{hashlib.sha256(STATIC.encode()).hexdigest()[:12]}"
# Vendors speak of 3.5 to 4 characters of English a token, and JSON takes more tokens than prose: 4 counts too few.
CHARACTERS_A_TOKEN = 4.0
JSON_ONLY = "Your last answer was not JSON. Write the JSON object alone, from its first brace to its last."
AT_ONCE = "Your last answer was cut off before its JSON. Write the JSON object at once."
_ASK = 'List what is worth remembering of the turns marked new="true".'


class EndedLine(BaseModel):
    """A known memory that ends on a day that the user names."""

    id: str = Field(max_length=16)
    on: str = Field(max_length=40)


class ExtractionAnswer(BaseModel):
    """The whole answer, as constrained decoding is told; what comes is checked object by object."""

    memories: tuple[ExtractedMemory, ...]
    forget: tuple[Annotated[str, Field(max_length=16)], ...] = Field(default=(), max_length=20)
    ends: tuple[Annotated[str, Field(max_length=16)] | EndedLine, ...] = Field(default=(), max_length=20)


SCHEMA = ExtractionAnswer.model_json_schema()


def render(
    *,
    turns: Sequence[ShownTurn],
    entities: Mapping[str, KnownEntity],
    memories: Mapping[str, StoredMemory],
    policy: ExtractionPolicy,
) -> ModelRequest:
    """Return the request for the new ones among the turns."""
    asked = turns_section(turns=turns, most_characters=policy.max_turn_characters)
    return ModelRequest(
        purpose=Purpose.EXTRACT,
        prompt_version=VERSION,
        static=STATIC,
        context=known_section(entities=entities, memories=memories),
        turns=f"{asked}\n{_ASK}",
        schema=SCHEMA,
        max_tokens=policy.max_answer_tokens,
        model=policy.model,
    )


def asked_again(request: ModelRequest, *, used_tokens: int | None = None) -> ModelRequest:
    """Return a request after an answer that was no JSON, or that was cut off after so many tokens."""
    if used_tokens is None:
        return replace(request, turns=f"{request.turns}\n{JSON_ONLY}")
    return replace(request, turns=f"{request.turns}\n{AT_ONCE}", max_tokens=2 * used_tokens)


def estimated_tokens(text: str) -> int:
    """Estimate the tokens of a text from below; no vendor's tokenizer works offline."""
    return int(len(text) / CHARACTERS_A_TOKEN)
