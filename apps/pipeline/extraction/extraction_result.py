"""What an extractor found in one request's turns."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self
from uuid import UUID

from apps.pipeline.core.model_calls import ModelCallRecord
from apps.pipeline.core.statement import Candidate


@dataclass(frozen=True, slots=True)
class CandidateRefusal:
    """A candidate that the extractor itself refused, with a Reason and words of why."""

    candidate: Candidate
    reason: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """Candidates and refusals of one request, all with index 0; `failure` says why nothing could be found at all."""

    candidates: tuple[Candidate, ...] = ()
    refused: tuple[CandidateRefusal, ...] = ()
    calls: tuple[ModelCallRecord, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)
    failure: str = ""
    shown_memories: frozenset[UUID] = frozenset()  # known memories that the model saw
    windows: Mapping[UUID, int] = field(default_factory=dict)  # by turn: the model call that it was new in
    idle: frozenset[UUID] = frozenset()  # turns that no model was asked about, since they say nothing of anybody
    unreadable: Mapping[UUID, str] = field(default_factory=dict)  # turns that the patterns failed on, with the error

    def evolve(self, **changes: Any) -> Self:
        """Return a copy with the changes."""
        return replace(self, **changes)
