"""The latest turns of a project, as the requests in which intake judged them, in few statements."""

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from uuid import UUID

from django.db.models import Exists, OuterRef
from django.db.models.functions import Left

from apps.pipeline.core.draft import Origin, Request
from apps.pipeline.core.policy import MOST_REPEAT_WINDOW
from apps.pipeline.core.turn import SourceTurn
from apps.traces.models import Trace, Turn
from apps.traces.turn_codec import source_turn

SessionKey = tuple[UUID, UUID]  # end user and session


def latest_requests(*, project_id: UUID, most_turns: int, look_back_characters: int) -> list[Request]:
    """Return the requests with the latest turns of a project, at most so many, in three statements.

    Each request carries the turns before it in its session, cut to `look_back_characters`.
    """
    latest = Trace.objects.filter(project_id=project_id).order_by("-created_at", "-id")
    traces = list(latest.values_list("pk", flat=True)[:most_turns])
    rows = Turn.objects.filter(trace__in=traces)
    found = list(rows.order_by("-trace__created_at", "-trace_id", "-position")[:most_turns])
    by_session = {
        key: sorted(turns, key=lambda turn: turn.position)
        for key, turns in _grouped(sorted(found, key=_session_of)).items()
    }
    earlier = _earlier([turns[0] for turns in by_session.values()], look_back_characters)
    requests = (
        _requests(Origin(project_id=project_id, end_user_id=key[0], session_id=key[1]), turns, earlier.get(key, ()))
        for key, turns in by_session.items()
    )
    return list(chain.from_iterable(requests))


def _session_of(turn: Turn) -> SessionKey:
    return turn.end_user_id, turn.session_id


def _grouped(turns: Sequence[Turn]) -> dict[SessionKey, list[Turn]]:
    return {key: list(group) for key, group in groupby(turns, key=_session_of)}


def _earlier(firsts: Sequence[Turn], look_back_characters: int) -> dict[SessionKey, list[SourceTurn]]:
    """Return the turns just before the first of each session, cut as intake cuts them."""
    first = Turn.objects.filter(
        id__in=[turn.id for turn in firsts],
        session=OuterRef("session"),
        position__gt=OuterRef("position"),
        position__lte=OuterRef("position") + MOST_REPEAT_WINDOW,
    )
    sessions = {turn.session_id for turn in firsts}
    rows = Turn.objects.filter(Exists(first), session__in=sessions, withdrawn=False).order_by("position")
    found: dict[SessionKey, list[SourceTurn]] = {}
    for turn in rows.defer("content").annotate(start=Left("content", look_back_characters)):
        turn.content = turn.start
        found.setdefault(_session_of(turn), []).append(source_turn(turn))
    return found


def _requests(origin: Origin, rows: Sequence[Turn], earlier: Sequence[SourceTurn]) -> Iterator[Request]:
    """Yield the requests of one session, each with the turns before it."""
    recent: deque[SourceTurn] = deque(earlier, maxlen=MOST_REPEAT_WINDOW)
    for trace_id, group in groupby(rows, key=lambda row: row.trace_id):
        turns = tuple(source_turn(row) for row in group)
        yield Request(trace_id, origin, turns, tuple(recent))
        recent.extend(turns)
