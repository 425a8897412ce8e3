"""End a session and enqueue its session-level extraction."""

from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.actions.errors import NotFound
from apps.outbox import batching, enqueue
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import TraceStatus, WorkKind
from apps.pipeline.core.identifiers import new_id
from apps.providers import registry
from apps.tenants.end_users import UserBeingErased, keep_from_writers
from apps.traces.models import ConfigurationVersion, Session, Trace
from apps.traces.policies import policy_of


@dataclass(frozen=True, slots=True)
class EndedSession:
    """The trace of the session-level extraction; None if there is nothing new to extract from."""

    trace_id: UUID | None
    status: TraceStatus


def end_session(
    *, project_id: UUID, end_user_id: UUID, session_id: UUID, api_key_id: UUID | None = None
) -> EndedSession:
    """End a session and enqueue its session-level extraction, in one transaction; repeating it enqueues nothing.

    Its turns that wait for further ones are due now. Nothing is enqueued if no turn is new since the last extraction,
    or if no model extracts. Later turns reopen the session. Raises NotFound, also while the end user is being erased.
    """
    with transaction.atomic():
        try:
            keep_from_writers(end_user_id)
        except UserBeingErased as erased:
            raise NotFound("there is no such session") from erased
        sessions = Session.objects.select_for_update(no_key=True)  # memories may go on referring to it
        session = sessions.filter(project_id=project_id, end_user_id=end_user_id, id=session_id).first()
        if session is None:
            raise NotFound("there is no such session")
        session.ended_at = session.ended_at or timezone.now()
        session.save(update_fields=["ended_at"])
        batching.stop_waiting(end_user_id=end_user_id, session_id=session.id)
        open_work = OutboxRow.objects.open().filter(end_user_id=end_user_id, session_id=session.id)
        queued = open_work.filter(kind=WorkKind.EXTRACT_SESSION).values_list("subject_id", flat=True).first()
        if queued is not None:
            return EndedSession(trace_id=queued, status=TraceStatus.QUEUED)
        configuration = ConfigurationVersion.objects.get(project_id=project_id, is_active=True)
        extraction = policy_of(configuration.id).extraction
        if session.summarised_until >= session.turn_count or not registry.asks_model(extraction):
            return EndedSession(trace_id=None, status=TraceStatus.DONE)
        trace_id = _enqueue_extraction(session, configuration, api_key_id)
        return EndedSession(trace_id=trace_id, status=TraceStatus.QUEUED)


def _enqueue_extraction(session: Session, configuration: ConfigurationVersion, api_key_id: UUID | None) -> UUID:
    """Enqueue a trace in the scope of the latest request of the session."""
    latest = Trace.objects.filter(end_user_id=session.end_user_id, session=session).order_by("-created_at", "-id")
    scope = latest.values_list("agent_scope", flat=True).first() or {}
    trace = Trace.objects.create(
        id=new_id(),
        end_user_id=session.end_user_id,
        project_id=session.project_id,
        session=session,
        configuration=configuration,
        api_key_id=api_key_id,
        agent_scope=scope,
    )
    enqueue.enqueue(
        end_user_id=session.end_user_id,
        project_id=session.project_id,
        kind=WorkKind.EXTRACT_SESSION,
        subject_ids=[trace.id],
        session_id=session.id,
    )
    return trace.id
