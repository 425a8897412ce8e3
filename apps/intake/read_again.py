"""Read the sessions of a project again whose messages were kept as notes before there was a model."""

from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, QuerySet, Sum
from django.db.models.functions import Ceil, Coalesce, Greatest
from django.utils import timezone

from apps.common.errors import Conflict
from apps.memories.ledger.record import record
from apps.memories.models import MemoryOrigin
from apps.outbox import enqueue
from apps.pipeline.core.enums import LIVE_STATUSES, TraceStatus, WorkKind
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.statement import NOTE_EXTRACTOR
from apps.providers import registry
from apps.tenants.end_users import UserBeingErased, keep_from_writers
from apps.tenants.scope import tenant_scope
from apps.traces.models import ConfigurationVersion, Session, Trace
from apps.traces.policies import active_policy, policy_of

MOST_SESSIONS = 500  # of a call; the next call goes on


@dataclass(frozen=True, slots=True)
class SessionsToRead:
    """What a model could read again, and how far the reading is that is under way."""

    messages: int = 0
    sessions: int = 0
    calls: int = 0  # of the model, about
    reading: int = 0  # sessions that are being read, with those that were read since the oldest of them was requested
    read: int = 0  # of these


def sessions_to_read(project_id: UUID) -> SessionsToRead:
    """Count the messages and sessions that are kept as notes, though a model is configured now; without one, none."""
    policy = active_policy(project_id=project_id).extraction
    if not registry.asks_model(policy):
        return SessionsToRead()
    notes = _notes(project_id)
    messages = notes.aggregate(count=Count("turn_id", distinct=True))["count"]
    calls_of_session = Ceil(Greatest(F("turn_count"), 1) * 1.0 / policy.max_turns)
    held = Session.objects.filter(id__in=notes.values("session_id")).aggregate(
        sessions=Count("id"), calls=Coalesce(Sum(calls_of_session), 0.0)
    )
    sessions, calls = held["sessions"], int(held["calls"])
    readings = Trace.objects.filter(project_id=project_id, reads_again=True)
    waiting = readings.filter(status=TraceStatus.QUEUED)
    oldest = waiting.order_by("created_at").values_list("created_at", flat=True).first()
    if oldest is None:
        return SessionsToRead(messages, sessions, calls)
    total, left = (
        rows.order_by().values("session_id").distinct().count()
        for rows in (readings.filter(created_at__gte=oldest), waiting)
    )
    return SessionsToRead(messages, sessions, calls, reading=total, read=total - left)


def read_again(project_id: UUID) -> int:
    """Enqueue the reading of up to MOST_SESSIONS sessions with notes; return how many these are.

    A session whose reading waits gets no second one. Raises Conflict if no model is configured.
    """
    configuration = ConfigurationVersion.objects.get(project_id=project_id, is_active=True)
    if not registry.asks_model(policy_of(configuration.id).extraction):
        raise Conflict("no model is configured")
    notes = _notes(project_id)
    sessions = (
        notes.order_by("end_user_id", "session_id").values_list("session_id", flat=True).distinct()[:MOST_SESSIONS]
    )
    told = notes.filter(session_id__in=list(sessions)).values("trace_id")
    traces = Trace.objects.filter(project_id=project_id, id__in=told).defer("plan", "outcomes")
    # The latest trace of each source of notes: what is read takes agent, topic and metadata from it.
    source = ("end_user_id", "session_id", "agent_scope", "topic", "metadata")
    sources = list(traces.order_by(*source, "-created_at").distinct(*source))
    now = timezone.now()
    enqueued = 0
    for (end_user_id, session_id), found in groupby(sources, key=lambda each: (each.end_user_id, each.session_id)):
        with tenant_scope(project_id=project_id, end_user_id=end_user_id):
            enqueued += _enqueue(end_user_id, session_id, list(found), configuration, now)
    if enqueued:
        record("sessions_read_again", "project", project_id, project_id=project_id, details={"sessions": enqueued})
    return enqueued


def _enqueue(
    end_user_id: UUID, session_id: UUID, sources: list[Trace], configuration: ConfigurationVersion, now: datetime
) -> bool:
    """Enqueue one trace for each source; return False if the session is being read, deleted or erased."""
    with transaction.atomic():
        try:
            keep_from_writers(end_user_id)
        except UserBeingErased:
            return False
        locked = Session.objects.select_for_update(no_key=True).filter(end_user_id=end_user_id, id=session_id)
        readings = Trace.objects.filter(end_user_id=end_user_id, session_id=session_id, reads_again=True)
        if not locked.exists() or readings.filter(status=TraceStatus.QUEUED).exists():
            return False
        made = [
            Trace(
                id=new_id(),
                end_user_id=end_user_id,
                project_id=configuration.project_id,
                session_id=session_id,
                configuration=configuration,
                api_key_id=source.api_key_id,
                topic=source.topic,
                agent_scope=source.agent_scope,
                metadata=source.metadata,
                reads_again=True,
                created_at=now,
            )
            for source in sources
        ]
        Trace.objects.bulk_create(made)
        enqueue.enqueue(
            end_user_id=end_user_id,
            project_id=configuration.project_id,
            kind=WorkKind.READ_AGAIN,
            subject_ids=[each.id for each in made],
            session_id=session_id,
        )
        return True


def _notes(project_id: UUID) -> QuerySet[MemoryOrigin]:
    """Return the origins of live notes of sessions that were not read again since, nor are about to be."""
    readings = Trace.objects.filter(
        end_user_id=OuterRef("end_user_id"),
        session_id=OuterRef("session_id"),
        reads_again=True,
        status__in=(TraceStatus.DONE, TraceStatus.QUEUED),
        created_at__gte=OuterRef("created_at"),
    )
    return MemoryOrigin.objects.standing().filter(
        ~Exists(readings),
        memory__project_id=project_id,
        memory__status__in=sorted(LIVE_STATUSES),
        memory__extractor=NOTE_EXTRACTOR,
    )
