"""End a session: what its turns show together is owed, once."""

from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.actions.errors import NotFound
from apps.outbox import enqueue
from apps.outbox.models import OutboxRow
from apps.outbox.querysets import OutboxRowQuerySet
from apps.pipeline.core.enums import ExtractorKind, TraceStatus, WorkKind
from apps.pipeline.core.identifiers import new_id
from apps.providers import registry
from apps.traces.models import ConfigurationVersion, Session, Trace
from apps.traces.policies import policy_of


@dataclass(frozen=True, slots=True)
class EndedSession:
    """The trace that will tell what the session showed; none where there is nothing new to look at."""

    trace_id: UUID | None
    status: TraceStatus


def end_session(
    *, project_id: UUID, end_user_id: UUID, session_id: UUID, api_key_id: UUID | None = None
) -> EndedSession:
    """End a session and owe the look back on it, in one transaction; ending it twice owes nothing more.

    Nothing is owed where no turn is new since the last look, or no model extracts. Later turns open it again.
    Raises NotFound.
    """
    with transaction.atomic():
        sessions = Session.objects.select_for_update().filter(project_id=project_id, end_user_id=end_user_id)
        session = sessions.filter(id=session_id).first()
        if session is None:
            raise NotFound("there is no such session")
        session.ended_at = session.ended_at or timezone.now()
        session.save(update_fields=["ended_at"])
        owed = _owed(session)
        if owed is not None:
            return EndedSession(trace_id=owed, status=TraceStatus.QUEUED)
        configuration = ConfigurationVersion.objects.get(project_id=project_id, is_active=True)
        if session.summarised_until >= session.turn_count or not _looks_back(configuration.id):
            return EndedSession(trace_id=None, status=TraceStatus.DONE)
        return EndedSession(trace_id=_owe(session, configuration, api_key_id), status=TraceStatus.QUEUED)


def _owed(session: Session) -> UUID | None:
    """Return the trace of a look that is still to come."""
    rows = OutboxRowQuerySet(OutboxRow).open().filter(end_user_id=session.end_user_id, session_id=session.id)
    return rows.filter(kind=WorkKind.EXTRACT_SESSION).values_list("subject_id", flat=True).first()


def _looks_back(configuration_id: UUID) -> bool:
    extraction = policy_of(configuration_id).extraction
    return registry.has_model(extraction.model) and extraction.extractor is not ExtractorKind.PATTERNS


def _owe(session: Session, configuration: ConfigurationVersion, api_key_id: UUID | None) -> UUID:
    trace = Trace.objects.create(
        id=new_id(),
        end_user_id=session.end_user_id,
        project_id=session.project_id,
        session=session,
        configuration=configuration,
        api_key_id=api_key_id,
    )
    enqueue.enqueue(
        end_user_id=session.end_user_id,
        project_id=session.project_id,
        kind=WorkKind.EXTRACT_SESSION,
        subject_ids=[trace.id],
        session_id=session.id,
    )
    return trace.id
