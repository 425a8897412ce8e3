"""Load a trace from the database as a draft: its turns and drops as they were after pre_filter."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from apps.pipeline.core.draft import Draft, Drop, Request
from apps.pipeline.core.enums import Stage
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.extract import SEEN
from apps.pipeline.prefilter.context_marker import without_context_blocks
from apps.traces.models import Span, Trace, Turn
from apps.traces.policies import policy_of


def load_drafts(*, end_user_id: UUID, trace_ids: Sequence[UUID]) -> list[Draft]:
    """Return the drafts of traces of one session, in the order given, as they were after pre_filter.

    They have no spans, because those are recorded already.
    """
    with transaction.atomic():
        traces = Trace.objects.filter(end_user_id=end_user_id).in_bulk(trace_ids)
        session_id = traces[trace_ids[0]].session_id
        session = Turn.objects.filter(end_user_id=end_user_id, session_id=session_id, withdrawn=False)
        own = list(session.filter(trace__in=trace_ids).order_by().values_list("position", flat=True))
        before = max(policy_of(trace.configuration_id).extraction.max_turns for trace in traces.values())
        rows = list(session.filter(position__range=(min(own) - before, max(own))).order_by("position"))
    drafts = []
    for trace in (traces[trace_id] for trace_id in trace_ids):
        policy = policy_of(trace.configuration_id)
        ours = [turn for turn in rows if turn.trace_id == trace.id]
        earlier = [turn for turn in rows if turn.position < ours[0].position][-policy.extraction.max_turns :]
        request = Request(
            trace_id=trace.id,
            origin=trace.origin(),
            turns=tuple(turn.as_source() for turn in ours),
            earlier_turns=tuple(turn.as_source() for turn in earlier),
            topic=trace.topic,
            metadata=trace.metadata,
            traceparent=trace.traceparent,
        )
        drops = (
            Drop(
                stage=Stage.PRE_FILTER,
                reason=turn.rejected_for,
                turn_id=turn.id,
                detail={"rule": turn.rejected_by} if turn.rejected_by else {},
            )
            for turn in ours
            if turn.rejected_for
        )
        drafts.append(screened_draft(request, policy=policy, drops=drops))
    return drafts


def screened_draft(request: Request, *, policy: Policy, drops: Iterable[Drop]) -> Draft:
    """Return what is left to extract from a request: turns that pre_filter has kept, without blocks of context."""
    screened = Draft.start(request=request, policy=policy).drop(*drops)
    return screened.evolve(turns=tuple(map(_without_context_blocks, screened.turns)))


def load_session_draft(*, end_user_id: UUID, trace_id: UUID) -> Draft:
    """Return the draft of a session-level extraction: the turns since the last one.

    Only turns of trusted roles that pre_filter did not reject are passed on to extraction, and where agents do not
    share their memories, only those told to the agent of the trace.
    """
    trace = Trace.objects.select_related("session").get(end_user_id=end_user_id, id=trace_id)
    latest = _session_turns(trace).filter(position__gte=trace.session.summarised_until).order_by("-position")
    most = policy_of(trace.configuration_id).extraction.max_session_turns
    return _session_draft(trace, list(reversed(latest[:most])))


def load_reading_draft(*, end_user_id: UUID, trace_id: UUID) -> Draft:
    """Return the draft of a trace that reads its session again: all turns that the trace may see.

    Only turns that `load_session_draft` would pass on are passed on to extraction, and of these only those with the
    source of the trace, as its statements take agent, topic and metadata from it.
    """
    trace = Trace.objects.get(end_user_id=end_user_id, id=trace_id)
    session = _session_turns(trace)
    draft = _session_draft(trace, list(session.order_by("position")))
    alike = session.filter(
        trace__agent_scope=trace.agent_scope, trace__topic=trace.topic, trace__metadata=trace.metadata
    )
    own = set(alike.values_list("id", flat=True))
    return draft.evolve(turns=tuple(turn for turn in draft.turns if turn.id in own))


def _session_turns(trace: Trace) -> QuerySet[Turn]:
    """Return the turns of a session, without those that were private to other agents."""
    session = Turn.objects.filter(end_user_id=trace.end_user_id, session_id=trace.session_id, withdrawn=False)
    if policy_of(trace.configuration_id).sharing.private_to(trace.origin().agent_scope):
        session = session.filter(trace__agent_scope__agent_id=trace.agent_scope["agent_id"])
    return session


def _session_draft(trace: Trace, rows: Sequence[Turn]) -> Draft:
    request = Request(
        trace_id=trace.id,
        origin=trace.origin(),
        turns=tuple(row.as_source() for row in rows),
        topic=trace.topic,
        metadata=trace.metadata,
        traceparent=trace.traceparent,
        is_session_level=True,
    )
    rejected = {row.id for row in rows if row.rejected_for}
    return trusted_draft(request, policy=policy_of(trace.configuration_id), rejected=rejected)


def trusted_draft(request: Request, *, policy: Policy, rejected: Collection[UUID]) -> Draft:
    """Return what is left to extract from a whole session: turns of trusted roles that pre_filter has kept."""
    turns = tuple(map(_without_context_blocks, request.turns))
    trusted = policy.pre_filter.trusted_roles
    usable = tuple(turn for turn in turns if turn.role in trusted and turn.id not in rejected)
    return Draft(request=replace(request, turns=turns), policy=policy, turns=usable)


def was_seen_whole(draft: Draft) -> bool:
    """Return True if one model call has shown all turns of the draft of a session-level extraction."""
    origin = draft.request.origin
    spans = Span.objects.filter(
        end_user_id=origin.end_user_id, trace__session_id=origin.session_id, stage=Stage.EXTRACT
    )
    calls = (call for seen in spans.values_list(f"details__{SEEN}", flat=True) for call in seen or ())
    positions = [turn.position for turn in draft.turns]
    return any(first <= min(positions) and max(positions) <= last for first, last in calls)


def _without_context_blocks(turn: SourceTurn) -> SourceTurn:
    return replace(turn, content=without_context_blocks(turn.content))
