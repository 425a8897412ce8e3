"""Rebuild a draft from what was recorded: the turns of a trace as pre_filter left them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from uuid import UUID

from apps.pipeline.draft import Draft, Drop, Origin, Request, SourceTurn
from apps.pipeline.policy import Policy
from apps.pipeline.recalled import own_words
from apps.pipeline.vocabulary import Role, Stage
from apps.traces.models import ConfigurationVersion, Trace, Turn

# Every turn of a conversation is loaded by these two: as querysets they took three milliseconds to be put into words.
_TRACES = "select * from traces_trace where end_user_id = %(end_user)s and id = any(%(traces)s)"
_TURNS_AROUND = """
with ours as (
    select min(position) as first, max(position) as last
    from traces_turn where end_user_id = %(end_user)s and trace_id = any(%(traces)s)
)
select turn.* from traces_turn turn, ours
where end_user_id = %(end_user)s and session_id = %(session)s
  and position between ours.first - %(before)s and ours.last
order by position
"""


@lru_cache(maxsize=64)
def policy_of(configuration_id: UUID) -> Policy:
    """Return the policy of a configuration version; versions never change, so they are kept in memory."""
    return ConfigurationVersion.objects.get(id=configuration_id).as_policy()


def source_turn(row: Turn) -> SourceTurn:
    """Return a stored turn as the pipeline sees it."""
    return SourceTurn(
        id=row.id,
        position=row.position,
        role=Role(row.role),
        content=row.content,
        received_at=row.received_at,
        speaker=row.speaker,
        occurred_at=row.occurred_at,
        external_id=row.external_id,
        utc_offset=row.utc_offset,
    )


def load_drafts(*, end_user_id: UUID, trace_ids: Sequence[UUID]) -> list[Draft]:
    """Return the drafts of traces of one session, in the order given, as they stood after pre_filter.

    They carry no spans: those are recorded already.
    """
    ours = Trace.objects.raw(_TRACES, {"end_user": end_user_id, "traces": list(trace_ids)})
    traces = {trace.id: trace for trace in ours}
    first = traces[trace_ids[0]]
    turns = _turns_around(first, trace_ids, policy_of(first.configuration_id).extraction.max_turns)
    return [_draft(traces[trace_id], turns) for trace_id in trace_ids]


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


def _origin(trace: Trace) -> Origin:
    return Origin(
        project_id=trace.project_id,
        end_user_id=trace.end_user_id,
        session_id=trace.session_id,
        api_key_id=trace.api_key_id,
    )


def _turns_around(trace: Trace, trace_ids: Sequence[UUID], before: int) -> list[Turn]:
    """Return the turns of the traces and up to `before` earlier ones of their session, oldest first."""
    values = {
        "end_user": trace.end_user_id,
        "session": trace.session_id,
        "traces": list(trace_ids),
        "before": before,
    }
    return list(Turn.objects.raw(_TURNS_AROUND, values))


def _draft(trace: Trace, turns: Sequence[Turn]) -> Draft:
    policy = policy_of(trace.configuration_id)
    rows = [turn for turn in turns if turn.trace_id == trace.id]
    earlier = [turn for turn in turns if turn.position < rows[0].position][-policy.extraction.max_turns :]
    request = Request(
        trace_id=trace.id,
        origin=_origin(trace),
        turns=tuple(map(source_turn, rows)),
        earlier_turns=tuple(map(source_turn, earlier)),
        topic=trace.topic,
        metadata=trace.metadata,
    )
    drops = (_drop(row) for row in rows if row.rejected_for)
    screened = Draft.start(request=request, policy=policy).drop(*drops)
    return screened.evolve(turns=tuple(replace(turn, content=own_words(turn.content)) for turn in screened.turns))


def _drop(row: Turn) -> Drop:
    return Drop(
        stage=Stage.PRE_FILTER,
        reason=row.rejected_for,
        turn_id=row.id,
        detail={"rule": row.rejected_by} if row.rejected_by else {},
    )
