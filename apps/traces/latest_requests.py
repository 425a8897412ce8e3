"""The latest turns of a project, as the requests in which intake judged them, in few statements."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import F

from apps.pipeline.core.draft import Origin, Request
from apps.pipeline.core.enums import Role
from apps.pipeline.core.policy import MOST_REPEAT_WINDOW
from apps.pipeline.core.turn import SourceTurn
from apps.traces.models import Trace, Turn
from apps.traces.turn_codec import TURN_COLUMNS, select_turn, source_turn

SessionKey = tuple[UUID, UUID]  # end user and session

# The turns just before the first of each session, cut as intake cuts them. Citus takes no limit in a lateral subquery.
_EARLIER = f"""
select earlier.end_user_id, earlier.session_id, {", ".join(f"earlier.{name}" for name in TURN_COLUMNS)}
from (
    select turn.end_user_id, turn.session_id, {select_turn(content="left(content, %(most)s) as content")},
        row_number() over (partition by turn.end_user_id, turn.session_id order by turn.position desc) as before_first
    from traces_turn turn
    join unnest(%(users)s::uuid[], %(sessions)s::uuid[], %(firsts)s::int[]) as given(end_user_id, session_id, first)
      on turn.end_user_id = given.end_user_id and turn.session_id = given.session_id and turn.position < given.first
    where not turn.withdrawn
) as earlier
where earlier.before_first <= {MOST_REPEAT_WINDOW}
order by earlier.position
"""  # noqa: S608  (only names of columns and constants)


def latest_requests(*, project_id: UUID, most_turns: int, look_back_characters: int) -> list[Request]:
    """Return the requests with the latest turns of a project, at most so many, in three statements.

    Each request carries the turns before it in its session, cut to `look_back_characters`.
    """
    latest = Trace.objects.filter(project_id=project_id).order_by("-created_at", "-id")
    traces = list(latest.values_list("pk", flat=True)[:most_turns])
    rows = Turn.objects.filter(trace__in=traces, end_user=F("trace__end_user"))
    found = list(rows.order_by("-trace__created_at", "-trace_id", "-position")[:most_turns])
    by_session = {
        key: sorted(turns, key=lambda turn: turn.position)
        for key, turns in _grouped(sorted(found, key=_session_of)).items()
    }
    earlier = _earlier({key: turns[0].position for key, turns in by_session.items()}, look_back_characters)
    requests = (
        _requests(Origin(project_id=project_id, end_user_id=key[0], session_id=key[1]), turns, earlier.get(key, ()))
        for key, turns in by_session.items()
    )
    return list(chain.from_iterable(requests))


def _session_of(turn: Turn) -> SessionKey:
    return turn.end_user_id, turn.session_id


def _grouped(turns: Sequence[Turn]) -> dict[SessionKey, list[Turn]]:
    return {key: list(group) for key, group in groupby(turns, key=_session_of)}


def _earlier(firsts: Mapping[SessionKey, int], look_back_characters: int) -> dict[SessionKey, list[SourceTurn]]:
    given: dict[str, Any] = {
        "users": [user for user, _ in firsts],
        "sessions": [session for _, session in firsts],
        "firsts": list(firsts.values()),
        "most": look_back_characters,
    }
    found: dict[SessionKey, list[SourceTurn]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_EARLIER, given)
        for user, session, *values in cursor.fetchall():
            columns = dict(zip(TURN_COLUMNS, values, strict=True))
            turn = SourceTurn(**{**columns, "role": Role(columns["role"])})
            found.setdefault((user, session), []).append(turn)
    return found


def _requests(origin: Origin, rows: Sequence[Turn], earlier: Sequence[SourceTurn]) -> Iterator[Request]:
    """Yield the requests of one session, each with the turns before it."""
    recent: deque[SourceTurn] = deque(earlier, maxlen=MOST_REPEAT_WINDOW)
    for trace_id, group in groupby(rows, key=lambda row: row.trace_id):
        turns = tuple(source_turn(row) for row in group)
        yield Request(trace_id, origin, turns, tuple(recent))
        recent.extend(turns)
