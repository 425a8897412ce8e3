"""Read the sessions of a project again whose messages were kept as notes before there was a model."""

from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from apps.actions.errors import Conflict
from apps.actions.ledger.record import record
from apps.outbox import enqueue
from apps.pipeline.core.enums import TraceStatus, WorkKind
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.statement import NOTE_EXTRACTOR
from apps.providers import registry
from apps.tenants.end_users import UserBeingErased, keep_from_erasure
from apps.tenants.scope import tenant_scope
from apps.traces.models import ConfigurationVersion, Session, Trace
from apps.traces.policies import policy_of

MOST_SESSIONS = 500  # of a call; the next call goes on

# Live notes of sessions that were not read again since, nor are about to be. Words are written out, not passed as
# parameters, so that the index of live notes is used.
_NOTES = f"""
with note as (
    select origin.end_user_id, origin.session_id, origin.turn_id, origin.trace_id
    from memories_memory memory
    join memories_memoryorigin origin on origin.end_user_id = memory.end_user_id and origin.memory_id = memory.id
        and not origin.withdrawn
    where memory.project_id = %(project)s and memory.status in ('active', 'pending_review')
        and memory.extractor = '{NOTE_EXTRACTOR}'
        and not exists (
            select from traces_trace reading
            where reading.end_user_id = origin.end_user_id and reading.session_id = origin.session_id
                and reading.reads_again and reading.status in ('done', 'queued')
                and reading.created_at >= origin.created_at
        )
)
"""  # noqa: S608  (a constant)
_COUNT = f"""
{_NOTES}, held as (select distinct end_user_id, session_id from note)
select (select count(distinct turn_id) from note), count(*),
       coalesce(sum(ceil(greatest(session.turn_count, 1) / %(turns)s::float8)), 0)::int
from held join traces_session session on session.end_user_id = held.end_user_id and session.id = held.session_id
"""  # noqa: S608
# The latest trace of each source of a session's notes: what is read takes agent, topic and metadata from it.
_SOURCES = f"""
{_NOTES}, held as (select distinct end_user_id, session_id from note order by end_user_id, session_id limit %(most)s)
select distinct on (trace.end_user_id, trace.session_id, trace.agent_scope, trace.topic, trace.metadata) trace.id
from held join note on note.end_user_id = held.end_user_id and note.session_id = held.session_id
join traces_trace trace on trace.end_user_id = note.end_user_id and trace.id = note.trace_id
order by trace.end_user_id, trace.session_id, trace.agent_scope, trace.topic, trace.metadata, trace.created_at desc
"""  # noqa: S608


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
    policy = policy_of(_active(project_id).id).extraction
    if not registry.asks_model(policy):
        return SessionsToRead()
    messages, sessions, calls = _rows(_COUNT, project=project_id, turns=policy.max_turns)[0]
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
    configuration = _active(project_id)
    if not registry.asks_model(policy_of(configuration.id).extraction):
        raise Conflict("no model is configured")
    ids = [trace_id for (trace_id,) in _rows(_SOURCES, project=project_id, most=MOST_SESSIONS)]
    sources = Trace.objects.filter(project_id=project_id, id__in=ids).defer("plan", "outcomes")
    ordered = sources.order_by("end_user_id", "session_id", "created_at")
    now = timezone.now()
    enqueued = 0
    for (end_user_id, session_id), found in groupby(ordered, key=lambda each: (each.end_user_id, each.session_id)):
        with tenant_scope(project_id=project_id, end_user_id=end_user_id):
            enqueued += _enqueue(end_user_id, session_id, list(found), configuration, now)
    if enqueued:
        record(
            project_id=project_id,
            verb="sessions_read_again",
            object_kind="project",
            object_id=project_id,
            details={"sessions": enqueued},
        )
    return enqueued


def _enqueue(
    end_user_id: UUID, session_id: UUID, sources: list[Trace], configuration: ConfigurationVersion, now: datetime
) -> bool:
    """Enqueue one trace for each source; return False if the session is being read, deleted or erased."""
    with transaction.atomic():
        try:
            keep_from_erasure(end_user_id)
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


def _active(project_id: UUID) -> ConfigurationVersion:
    return ConfigurationVersion.objects.get(project_id=project_id, is_active=True)


def _rows(sql: str, *, project: UUID, **values: int) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, {"project": project, **values})
        return cursor.fetchall()
