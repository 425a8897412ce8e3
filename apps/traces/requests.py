"""Read stored turns as the requests in which intake judged them."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from uuid import UUID

from django.db.models import Exists, Max, Min, OuterRef, Q
from django.db.models.functions import Left

from apps.pipeline.core.draft import Origin, Request
from apps.pipeline.core.policy import MOST_REPEAT_WINDOW
from apps.pipeline.core.turn import SourceTurn
from apps.traces.models import Trace, Turn

_CHUNK_SIZE = 500  # rows of a session per fetch


def requests_since(*, project_id: UUID, since: datetime, look_back_characters: int) -> Iterator[Request]:
    """Yield the requests accepted since a time, grouped by session and in their order.

    The session with the latest request comes first. Each request carries the earlier turns that the rules need, cut to
    `look_back_characters` as intake cuts them.
    """
    sessions = Trace.objects.filter(project_id=project_id, created_at__gte=since)
    latest_first = sessions.values("end_user_id", "session_id").annotate(last=Max("created_at")).order_by("-last")
    for found in latest_first:
        origin = Origin(project_id=project_id, end_user_id=found["end_user_id"], session_id=found["session_id"])
        session = Turn.objects.filter(end_user_id=origin.end_user_id, session_id=origin.session_id)
        first = session.filter(received_at__gte=since).aggregate(first=Min("position"))["first"]
        if first is None:
            continue
        recent: deque[SourceTurn] = deque(maxlen=MOST_REPEAT_WINDOW)
        by_external_id: dict[str, SourceTurn] = {}
        own_ids = session.filter(position__gte=first).exclude(external_id="").values("external_id")
        needed = session.filter(Q(position__gte=first - MOST_REPEAT_WINDOW) | Q(external_id__in=own_ids))
        rows = needed.order_by("position").iterator(chunk_size=_CHUNK_SIZE)
        for trace_id, group in groupby(rows, key=lambda row: row.trace_id):
            turns = [row.as_source() for row in group]
            if turns[0].position >= first:
                near = [turn for turn in recent if turn.position >= turns[0].position - MOST_REPEAT_WINDOW]
                repeated = [by_external_id[turn.external_id] for turn in turns if turn.external_id in by_external_id]
                earlier = {turn.id: turn for turn in (*near, *repeated)}.values()
                oldest_first = tuple(sorted(earlier, key=lambda turn: turn.position))
                yield Request(trace_id, origin, tuple(turns), oldest_first)
            for turn in (replace(turn, content=turn.content[:look_back_characters]) for turn in turns):
                recent.append(turn)
                if turn.external_id:
                    by_external_id[turn.external_id] = turn


def count_turns(*, project_id: UUID, since: datetime, most: int) -> int:
    """Count the turns accepted since a time, up to `most`."""
    traces = Trace.objects.filter(project_id=project_id, created_at__gte=since)
    return Turn.objects.filter(trace__in=traces).order_by()[:most].count()


def traceparents_of(*, end_user_id: UUID, trace_ids: Iterable[UUID | None]) -> list[str]:
    """Return the distributed traces that the requests of traces belong to, in the order of their acceptance."""
    traces = Trace.objects.filter(end_user_id=end_user_id, id__in={each for each in trace_ids if each})
    return list(traces.exclude(traceparent="").order_by("id").values_list("traceparent", flat=True))


def latest_requests(*, project_id: UUID, most_turns: int, look_back_characters: int) -> list[Request]:
    """Return the requests with the latest turns of a project, at most so many, in three statements.

    Each request carries the turns before it in its session, cut to `look_back_characters`.
    """
    latest = Trace.objects.filter(project_id=project_id).order_by("-created_at", "-id")
    traces = list(latest.values_list("pk", flat=True)[:most_turns])
    found = Turn.objects.filter(trace__in=traces).order_by("-trace__created_at", "-trace_id", "-position")
    by_session: defaultdict[UUID, list[Turn]] = defaultdict(list)
    for turn in sorted(found[:most_turns], key=lambda turn: (turn.end_user_id, turn.session_id, turn.position)):
        by_session[turn.session_id].append(turn)
    first = Turn.objects.filter(
        id__in=[turns[0].id for turns in by_session.values()],
        session=OuterRef("session"),
        position__gt=OuterRef("position"),
        position__lte=OuterRef("position") + MOST_REPEAT_WINDOW,
    )
    rows = Turn.objects.filter(Exists(first), session__in=by_session.keys(), withdrawn=False).order_by("position")
    before: defaultdict[UUID, list[SourceTurn]] = defaultdict(list)
    for turn in rows.defer("content").annotate(start=Left("content", look_back_characters)):
        turn.content = turn.start  # cut as intake cuts it
        before[turn.session_id].append(turn.as_source())
    requests: list[Request] = []
    for session_id, turns in by_session.items():
        origin = Origin(project_id=project_id, end_user_id=turns[0].end_user_id, session_id=session_id)
        recent = deque(before[session_id], maxlen=MOST_REPEAT_WINDOW)
        for trace_id, group in groupby(turns, key=lambda turn: turn.trace_id):
            said = tuple(turn.as_source() for turn in group)
            requests.append(Request(trace_id, origin, said, tuple(recent)))
            recent.extend(said)
    return requests
