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
    session = _session(asked)
    waiting = [turn for each in asked for turn in each.turns]
    while waiting:
        new = _fitting(waiting, session, most=policy.max_turns)
        waiting = waiting[len(new) :]
        yield _window(new, session, policy)


def _session(asked: Sequence[TurnsToExtract]) -> dict[int, SourceTurn]:
    """Return all known turns of the session by position; new ones as the pre-filter left them."""
    told = [turn for each in asked for turn in (*each.draft.request.earlier_turns, *each.draft.request.turns)]
    kept = [turn for each in asked for turn in each.turns]
    return {turn.position: turn for turn in (*told, *kept)}


def _fitting(waiting: Sequence[SourceTurn], session: dict[int, SourceTurn], *, most: int) -> list[SourceTurn]:
    taken: set[int] = set()
    new: list[SourceTurn] = []
    for turn in waiting:
        needed = taken | {turn.position} | ({turn.position - 1} & session.keys())
        if new and len(needed) > most:
            break
        taken = needed
        new.append(turn)
    return new


def _window(new: Sequence[SourceTurn], session: dict[int, SourceTurn], policy: ExtractionPolicy) -> Window:
    places = {turn.position for turn in new}
    shown = places | {place - 1 for place in places if place - 1 in session}
    first = min(places)
    earlier = [place for place in range(first - 2, first - 1 - policy.context_turns, -1) if place in session]
    shown |= set(earlier[: max(0, policy.max_turns - len(shown))])
    return Window(shown=tuple(session[place] for place in sorted(shown)), new=tuple(new))
