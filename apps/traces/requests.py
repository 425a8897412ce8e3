"""Read stored turns as the requests in which intake judged them."""

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from uuid import UUID

from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Left

from apps.pipeline.core.draft import Origin, Request
from apps.pipeline.core.policy import MOST_REPEAT_WINDOW
from apps.pipeline.core.turn import SourceTurn
from apps.traces.models import Trace, Turn


def traceparents_of(*, end_user_id: UUID, trace_ids: Iterable[UUID | None]) -> list[str]:
    """Return the distributed traces that the requests of traces belong to, in the order of their acceptance."""
    traces = Trace.objects.filter(end_user_id=end_user_id, id__in={each for each in trace_ids if each})
    return list(traces.exclude(traceparent="").order_by("id").values_list("traceparent", flat=True))


def latest_requests(
    *, project_id: UUID, most_turns: int, look_back_characters: int, since: datetime | None = None
) -> list[Request]:
    """Return the requests with the latest turns of a project, at most so many, in three statements.

    Each request carries the turns before it in its session, and those that have the same external id, cut to
    `look_back_characters`.
    """
    latest = Trace.objects.filter(project_id=project_id).order_by("-created_at", "-id")
    if since is not None:
        latest = latest.filter(created_at__gte=since)
    traces = list(latest.values_list("pk", flat=True)[:most_turns])
    found = Turn.objects.filter(trace__in=traces).order_by("-trace__created_at", "-trace_id", "-position")
    by_session: defaultdict[UUID, list[Turn]] = defaultdict(list)
    for turn in sorted(found[:most_turns], key=lambda turn: (turn.end_user_id, turn.session_id, turn.position)):
        by_session[turn.session_id].append(turn)
    first = Turn.objects.filter(
        id__in=[turns[0].id for turns in by_session.values()],
        session=OuterRef("session"),
        position__gt=OuterRef("position"),
    )
    near = Exists(first.filter(position__lte=OuterRef("position") + MOST_REPEAT_WINDOW))
    sent = {turn.external_id for turns in by_session.values() for turn in turns if turn.external_id}
    same = Q(external_id__in=sent) & Exists(first)
    rows = Turn.objects.filter(near | same, session__in=by_session.keys(), withdrawn=False).order_by("position")
    before: defaultdict[UUID, list[SourceTurn]] = defaultdict(list)
    for turn in rows.defer("content").annotate(start=Left("content", look_back_characters)):
        turn.content = turn.start  # cut as intake cuts it
        before[turn.session_id].append(turn.as_source())
    requests: list[Request] = []
    for session_id, turns in by_session.items():
        origin = Origin(project_id=project_id, end_user_id=turns[0].end_user_id, session_id=session_id)
        recent = deque(before[session_id], maxlen=MOST_REPEAT_WINDOW)
        by_external_id = {turn.external_id: turn for turn in before[session_id] if turn.external_id}
        for trace_id, group in groupby(turns, key=lambda turn: turn.trace_id):
            said = tuple(turn.as_source() for turn in group)
            repeated = [by_external_id[turn.external_id] for turn in said if turn.external_id in by_external_id]
            window = [turn for turn in recent if turn.position >= said[0].position - MOST_REPEAT_WINDOW]
            earlier = {turn.id: turn for turn in (*window, *repeated)}.values()
            oldest_first = tuple(sorted(earlier, key=lambda turn: turn.position))
            requests.append(Request(trace_id, origin, said, oldest_first))
            shown = [replace(turn, content=turn.content[:look_back_characters]) for turn in said]
            recent.extend(shown)
            by_external_id |= {turn.external_id: turn for turn in shown if turn.external_id}
    return requests
