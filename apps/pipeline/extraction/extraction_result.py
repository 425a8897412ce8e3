"""The result of an extractor for the turns of one request."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self
from uuid import UUID

from apps.pipeline.core.model_calls import ModelCallRecord
from apps.pipeline.core.statement import Candidate


@dataclass(frozen=True, slots=True)
class CandidateRefusal:
    """A candidate that the extractor itself refused, with a Reason and an explanation."""

    candidate: Candidate
    reason: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """Candidates and refusals of one request, all with index 0; `failure` says why extraction failed as a whole."""

    candidates: tuple[Candidate, ...] = ()
    refused: tuple[CandidateRefusal, ...] = ()
    calls: tuple[ModelCallRecord, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)
    failure: str = ""
    shown_memories: frozenset[UUID] = frozenset()  # known memories that were in the prompt
    to_forget: tuple[UUID, ...] = ()  # shown memories that the user asks to forget
    to_end: tuple[UUID, ...] = ()  # shown memories that are over, without a new one
    windows: Mapping[UUID, int] = field(default_factory=dict)  # by turn: the model call in which it was new
    idle: frozenset[UUID] = frozenset()  # turns that the model was not asked about, because they are small talk
    unreadable: Mapping[UUID, str] = field(default_factory=dict)  # turns on which reading failed, with the error

    def evolve(self, **changes: Any) -> Self:
        """Return a copy with the changes."""
        return replace(self, **changes)
