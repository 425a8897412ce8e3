"""Store an accepted request: its end user and session, trace, turns and first span."""

from datetime import datetime
from uuid import UUID

from django.db.models.functions import Now

from apps.intake.intake_precondition import LockedSession
from apps.pipeline.core.draft import Draft, Origin
from apps.pipeline.core.enums import TraceStatus
from apps.tenants.models import EndUser
from apps.traces.models import TURN_COLUMNS, Session, Span, Trace, Turn
from apps.traces.recorder import spans_of
from apps.traces.trace_report import report_of


def place_turns(*, origin: Origin, user_id: str, session_id: str, locked: LockedSession, turn_count: int) -> bool:
    """Add turns to the number of those of the locked session, or add the session; ids are those of the caller.

    Returns False where another request has added the session in the meantime, so that it was not locked.
    """
    turn_count += locked.state.turn_count
    if locked.state.last_turn_at is not None:
        known = Session.objects.filter(id=origin.session_id)
        known.update(turn_count=turn_count, last_turn_at=locked.at, ended_at=None)
        return True
    if not locked.is_user_known:
        user = EndUser(id=origin.end_user_id, project_id=origin.project_id, external_id=user_id, created_at=Now())
        EndUser.objects.bulk_create([user], ignore_conflicts=True)
    elif locked.was_user_erased:  # who returns keeps the row
        erased = EndUser.objects.filter(id=origin.end_user_id, erased_at__isnull=False)
        erased.update(external_id=user_id, erased_at=None)
    values = {
        "end_user_id": origin.end_user_id,
        "project_id": origin.project_id,
        "external_id": session_id,
        "turn_count": turn_count,
        "started_at": Now(),
        "last_turn_at": locked.at,
    }
    _, is_new = Session.objects.get_or_create(id=origin.session_id, defaults=values)
    return is_new


def record_request(*, draft: Draft, configuration_id: UUID, status: TraceStatus, at: datetime) -> None:
    """Insert the trace of a request, its turns and its first span."""
    request, origin = draft.request, draft.request.origin
    report = report_of(draft)
    is_rejected = status is TraceStatus.REJECTED
    trace = Trace(
        id=request.trace_id,
        end_user_id=origin.end_user_id,
        project_id=origin.project_id,
        session_id=origin.session_id,
        configuration_id=configuration_id,
        api_key_id=origin.api_key_id,
        status=status,
        topic=request.topic,
        agent_scope=origin.agent_scope.given(),
        metadata=dict(request.metadata),
        counts=report.counts,
        outcomes=report.outcomes if is_rejected else [],
        traceparent=request.traceparent,
        created_at=at,
        finished_at=at if is_rejected else None,
    )
    Trace.objects.bulk_create([trace])
    drops = {drop.turn_id: drop for drop in draft.drops}
    turns = [
        Turn(**{name: getattr(turn, name) for name in TURN_COLUMNS}, end_user_id=origin.end_user_id, trace=trace)
        for turn in request.turns
    ]
    for turn in turns:
        turn.session_id, turn.received_at = origin.session_id, at
        if drop := drops.get(turn.id):
            turn.rejected_for, turn.rejected_by = drop.reason, drop.detail.get("rule", "")
    Turn.objects.bulk_create(turns)
    Span.objects.bulk_create(spans_of(draft, first=0))
