"""Cache the state of sessions per process, so that the next request of a session needs no query before it writes.

The state may be outdated, because other processes accept turns as well; the transaction that writes checks it.
"""

import threading
from dataclasses import replace
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
MOST_CHARACTERS = 20_000  # of a session's last turns; sessions with more are not cached

_sessions: LRUCache[UUID, IntakeState] = LRUCache(maxsize=MOST_SESSIONS)
_configurations: LRUCache[UUID, UUID] = LRUCache(maxsize=MOST_PROJECTS)  # the active one, by project
_lock = threading.Lock()


def recall(origin: Origin) -> IntakeState:
    """Return the cached state of the session; one that is not cached is assumed to be new."""
    with _lock:
        state = _sessions.get(origin.session_id)
        configuration = _configurations.get(origin.project_id)
    if configuration is None:
        active = ConfigurationVersion.objects.filter(is_active=True)
        configuration = active.values_list("id", flat=True).get(project_id=origin.project_id)
    if state is None:
        return IntakeState(configuration)
    return state if state.configuration_id == configuration else replace(state, configuration_id=configuration)


def remember(*, request: Request, state: IntakeState, at: datetime) -> None:
    """Cache the state after a request whose turns were received at a database time; drop it where it is long."""
    session, last_turns = request.origin.session_id, _last_turns(request, state, at)
    with _lock:
        _configurations[request.origin.project_id] = state.configuration_id
        if sum(len(turn.content) for turn in last_turns) > MOST_CHARACTERS:
            _sessions.pop(session, None)
            return
        _sessions[session] = IntakeState(
            state.configuration_id,
            turn_count=state.turn_count + len(request.turns),
            last_turn_at=at,
            earlier_turns=last_turns,
        )


def forget() -> None:
    """Clear the cache."""
    with _lock:
        _sessions.clear()
        _configurations.clear()


def _last_turns(request: Request, state: IntakeState, at: datetime) -> tuple[SourceTurn, ...]:
    """Return the last turns of the session as the database would return them."""
    first = state.turn_count + len(request.turns) - MOST_REPEAT_WINDOW
    earlier = (turn for turn in state.earlier_turns if turn.position >= first)
    new = (
        replace(turn, content=turn.content[:EARLIER_TURN_CHARACTERS], received_at=at)
        for turn in request.turns
        if turn.position >= first
    )
    return (*earlier, *new)
