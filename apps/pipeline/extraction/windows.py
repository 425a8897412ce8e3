"""Windows: which turns share a call, and which earlier turns are shown with them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apps.pipeline.core.draft import Draft
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.turn import SourceTurn


@dataclass(frozen=True, slots=True)
class TurnsToExtract:
    """The turns of one request that a model reads."""

    draft: Draft
    turns: tuple[SourceTurn, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """The turns in one call, oldest first, and those of them that are new."""

    shown: tuple[SourceTurn, ...]
    new: tuple[SourceTurn, ...]


def windows_of(asked: Sequence[TurnsToExtract], *, policy: ExtractionPolicy) -> Iterator[Window]:
    """Distribute the new turns of a session's requests over as few calls as possible.

    A new turn is shown with the turn before it, which explains what "yes" means; remaining room is for earlier turns.
    """
    told = [turn for each in asked for turn in (*each.draft.request.earlier_turns, *each.draft.request.turns)]
    waiting = [turn for each in asked for turn in each.turns]
    session = {turn.position: turn for turn in (*told, *waiting)}  # new turns as the pre-filter left them
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
