"""Rebuild a draft from what was recorded: the turns of a trace as pre_filter left them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import msgspec
from django.db import connection

from apps.pipeline.core.draft import Draft, Drop, Origin, Request
from apps.pipeline.core.enums import Stage
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.prefilter.context_marker import own_words
from apps.traces.models import Trace, Turn
from apps.traces.policies import policy_of
from apps.traces.turn_codec import select_turn, source_turn

# Every turn of a conversation is loaded by this: as rows of two models it cost three times the processor.
_LOADED = f"""
with ours as (
    select id, project_id, end_user_id, session_id, api_key_id, configuration_id, topic, metadata
    from traces_trace where end_user_id = %(end_user)s and id = any(%(traces)s)
), reach as (
    select min(position) - %(before)s as first, max(position) as last
    from traces_turn where end_user_id = %(end_user)s and trace_id = any(%(traces)s)
)
select (select json_agg(ours)::text from ours), (select json_agg(turn order by position)::text from (
    select turn.position, trace_id, rejected_for, rejected_by, said
    from reach, traces_turn turn, lateral (
        select {select_turn()}
    ) said
    where end_user_id = %(end_user)s and session_id = (select session_id from ours limit 1)
      and turn.position between reach.first and reach.last
) turn)
"""  # noqa: S608  (only names of columns)
_USUALLY_BEFORE = 20  # turns; a policy that looks further back costs a second reading


@dataclass(frozen=True, slots=True)
class _Trace:
    """What a draft needs to know of its trace."""

    id: UUID
    project_id: UUID
    end_user_id: UUID
    session_id: UUID
    api_key_id: UUID | None
    configuration_id: UUID
    topic: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Turn:
    """A turn of the session, of this trace or an earlier one, and why it was rejected."""

    said: SourceTurn
    trace_id: UUID
    rejected_for: str
    rejected_by: str


def load_drafts(*, end_user_id: UUID, trace_ids: Sequence[UUID]) -> list[Draft]:
    """Return the drafts of traces of one session, in the order given, as they stood after pre_filter.

    They carry no spans: those are recorded already.
    """
    traces, turns = _loaded(end_user_id, trace_ids, before=_USUALLY_BEFORE)
    furthest = policy_of(traces[trace_ids[0]].configuration_id).extraction.max_turns
    if furthest > _USUALLY_BEFORE:
        traces, turns = _loaded(end_user_id, trace_ids, before=furthest)
    return [_draft(traces[trace_id], turns) for trace_id in trace_ids]


def _loaded(
    end_user_id: UUID, trace_ids: Sequence[UUID], *, before: int
) -> tuple[dict[UUID, _Trace], tuple[_Turn, ...]]:
    """Return the traces, and their turns with up to `before` earlier ones of their session, oldest first."""
    values: dict[str, Any] = {"end_user": end_user_id, "traces": list(trace_ids), "before": before}
    with connection.cursor() as cursor:
        cursor.execute(_LOADED, values)
        traces, turns = cursor.fetchone()
    known = msgspec.json.decode(traces, type=tuple[_Trace, ...])
    return {trace.id: trace for trace in known}, msgspec.json.decode(turns, type=tuple[_Turn, ...])


def load_session_draft(*, end_user_id: UUID, trace_id: UUID) -> Draft:
    """Return the draft of a look back: the turns since the last one, those that may be believed in the funnel."""
    trace = Trace.objects.select_related("session").get(end_user_id=end_user_id, id=trace_id)
    policy = policy_of(trace.configuration_id)
    session = Turn.objects.filter(end_user_id=end_user_id, session_id=trace.session_id)
    latest = session.filter(position__gte=trace.session.summarised_until).order_by("-position")
    rows = list(reversed(latest[: policy.extraction.max_session_turns]))
    request = Request(trace_id=trace.id, origin=_origin(trace), turns=tuple(map(_own_turn, rows)))
    trusted = policy.pre_filter.trusted_roles
    kept = {row.id for row in rows if row.role in trusted and not row.rejected_for}
    return Draft(request=request, policy=policy, turns=tuple(turn for turn in request.turns if turn.id in kept))


def _own_turn(row: Turn) -> SourceTurn:
    turn = source_turn(row)
    return replace(turn, content=own_words(turn.content))


def _origin(trace: Trace | _Trace) -> Origin:
    return Origin(
        project_id=trace.project_id,
        end_user_id=trace.end_user_id,
        session_id=trace.session_id,
        api_key_id=trace.api_key_id,
    )


def _draft(trace: _Trace, turns: Sequence[_Turn]) -> Draft:
    policy = policy_of(trace.configuration_id)
    ours = [turn for turn in turns if turn.trace_id == trace.id]
    first = ours[0].said.position
    earlier = [turn.said for turn in turns if turn.said.position < first][-policy.extraction.max_turns :]
    request = Request(
        trace_id=trace.id,
        origin=_origin(trace),
        turns=tuple(turn.said for turn in ours),
        earlier_turns=tuple(earlier),
        topic=trace.topic,
        metadata=trace.metadata,
    )
    drops = (_drop(turn) for turn in ours if turn.rejected_for)
    screened = Draft.start(request=request, policy=policy).drop(*drops)
    return screened.evolve(turns=tuple(replace(turn, content=own_words(turn.content)) for turn in screened.turns))


def _drop(turn: _Turn) -> Drop:
    return Drop(
        stage=Stage.PRE_FILTER,
        reason=turn.rejected_for,
        turn_id=turn.said.id,
        detail={"rule": turn.rejected_by} if turn.rejected_by else {},
    )
