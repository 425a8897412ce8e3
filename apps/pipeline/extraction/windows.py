"""What extractors are given and return: the turns of a request, in windows that share a call, and its candidates."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self
from uuid import UUID

from apps.pipeline.core.draft import Draft, Ending
from apps.pipeline.core.model_calls import ModelCallRecord
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.statement import Candidate
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.not_to_store import CUT


@dataclass(frozen=True, slots=True)
class Window:
    """The turns in one call, oldest first, and those of them that are new."""

    shown: tuple[SourceTurn, ...]
    new: tuple[SourceTurn, ...]


def windows_of(asked: Sequence[Draft], *, policy: ExtractionPolicy) -> Iterator[Window]:
    """Distribute the new turns of a session's requests over as few calls as possible.

    A new turn is shown with the turn before it, which explains what "yes" means; remaining room is for earlier turns.
    """
    told = [turn for each in asked for turn in each.request.session_turns]
    waiting = [turn for each in asked for turn in each.turns]
    session = {turn.position: turn for turn in told if turn.content != CUT}
    session |= {turn.position: turn for turn in waiting}  # as the pre-filter left them
    while waiting:
        new: list[SourceTurn] = []
        shown: set[int] = set()
        for turn in waiting:
            needed = shown | {turn.position} | ({turn.position - 1} & session.keys())
            if new and len(needed) > policy.max_turns:
                break
            shown = needed
            new.append(turn)
        waiting = waiting[len(new) :]
        first = min(turn.position for turn in new)
        earlier = [place for place in range(first - 2, first - 1 - policy.context_turns, -1) if place in session]
        shown |= set(earlier[: max(0, policy.max_turns - len(shown))])
        yield Window(shown=tuple(session[place] for place in sorted(shown)), new=tuple(new))


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
    to_end: tuple[Ending, ...] = ()  # shown memories that are over, without a new one
    windows: Mapping[UUID, int] = field(default_factory=dict)  # by turn: the model call in which it was new
    idle: frozenset[UUID] = frozenset()  # turns that the model was not asked about, because they are small talk
    unreadable: Mapping[UUID, str] = field(default_factory=dict)  # turns on which reading failed, with the error

    def evolve(self, **changes: Any) -> Self:
        """Return a copy with the changes."""
        return replace(self, **changes)
