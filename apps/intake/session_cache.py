"""Recall how a process left a session, so that its next request need not look before it writes.

It may be wrong, for other processes accept turns as well: the statement that writes checks it.
"""

import threading
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from cachetools import LRUCache

from apps.intake.intake_precondition import IntakeState
from apps.pipeline.core.draft import Origin, Request
from apps.pipeline.core.policy import MOST_REPEAT_WINDOW
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.prefilter.conversation import EARLIER_TURN_CHARACTERS
from apps.traces.models import ConfigurationVersion

MOST_SESSIONS = 2_000
MOST_PROJECTS = 2_000
MOST_CHARACTERS = 20_000  # of a session's last turns; one with more is looked at each time

_sessions: LRUCache[UUID, IntakeState] = LRUCache(maxsize=MOST_SESSIONS)
_configurations: LRUCache[UUID, UUID] = LRUCache(maxsize=MOST_PROJECTS)  # the active one, by project
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class CachedSession:
    """Where the turns of a request were written: `shift` positions later than thought, at a time of the database."""

    shift: int
    at: datetime


def recall(origin: Origin) -> IntakeState:
    """Return how the session was left; one that is not remembered is taken to be new."""
    with _lock:
        found = _sessions.get(origin.session_id)
        configuration = _configurations.get(origin.project_id)
    if configuration is None:
        active = ConfigurationVersion.objects.filter(is_active=True)
        configuration = active.values_list("id", flat=True).get(project_id=origin.project_id)
    return IntakeState(configuration) if found is None else replace(found, configuration_id=configuration)


def remember(*, request: Request, found: IntakeState, placed: CachedSession) -> None:
    """Remember a session as a request left it, or forget it where other turns arrived meanwhile."""
    session, left = request.origin.session_id, _left(request, found, placed)
    with _lock:
        _configurations[request.origin.project_id] = found.configuration_id
        if placed.shift or sum(len(turn.content) for turn in left) > MOST_CHARACTERS:
            _sessions.pop(session, None)
            return
        _sessions[session] = IntakeState(
            found.configuration_id,
            turn_count=found.turn_count + len(request.turns),
            last_turn_at=placed.at,
            earlier_turns=left,
        )


def forget() -> None:
    """Forget all sessions and configurations, as a process that has just begun."""
    with _lock:
        _sessions.clear()
        _configurations.clear()


def _left(request: Request, found: IntakeState, placed: CachedSession) -> tuple[SourceTurn, ...]:
    """Return the last few turns of the session as a look would find them."""
    first = found.turn_count + len(request.turns) - MOST_REPEAT_WINDOW
    earlier = (turn for turn in found.earlier_turns if turn.position >= first)
    new = (_cut(turn, placed.at) for turn in request.turns if turn.position >= first)
    return (*earlier, *new)


def _cut(turn: SourceTurn, at: datetime) -> SourceTurn:
    return replace(turn, content=turn.content[:EARLIER_TURN_CHARACTERS], received_at=at)
