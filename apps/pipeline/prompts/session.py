"""The prompt that reviews a whole session: arcs and goals, beside what each turn has said."""

import hashlib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, Field

from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.model_calls import ModelRequest, Purpose
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.prompts.sections import ShownTurn, known_section, turns_section

STATIC = Path(__file__).with_name("session.xml").read_text(encoding="utf-8")
VERSION = f"session-{hashlib.sha256(STATIC.encode()).hexdigest()[:12]}"


class SessionKind(StrEnum):
    """What the review of a session finds; each is a tag of its memory."""

    ARC = "arc"
    GOAL = "goal"


class SessionMemory(BaseModel):
    """One memory as the model is asked for it."""

    kind: SessionKind
    content: str = Field(min_length=3, max_length=1_000)
    evidence: str = Field(max_length=2_000)
    source_turn_ids: tuple[str, ...] = Field(max_length=100)
    replaces: tuple[str, ...] = Field(default=(), max_length=20)
    importance: float = Field(default=0.5, ge=0, le=1)
    topic: str = Field(default="", max_length=64)


class SessionAnswer(BaseModel):
    """The whole answer, as constrained decoding is told; what comes is checked object by object."""

    memories: tuple[SessionMemory, ...]


SCHEMA = SessionAnswer.model_json_schema()


def render(
    *,
    turns: Sequence[ShownTurn],
    entities: Mapping[str, KnownEntity],
    memories: Mapping[str, StoredMemory],
    policy: ExtractionPolicy,
) -> ModelRequest:
    """Return the request for a session's turns."""
    asked = turns_section(turns=turns, most_characters=policy.max_session_turn_characters)
    return ModelRequest(
        purpose=Purpose.EXTRACT_SESSION,
        prompt_version=VERSION,
        static=STATIC,
        context=known_section(entities=entities, memories=memories),
        turns=f"{asked}\nList what the conversation as a whole shows.",
        schema=SCHEMA,
        max_tokens=policy.max_answer_tokens,
        model=policy.model,
    )
