"""End idle and finished sessions, and delete turns."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from apps.common.errors import NotFound
from apps.common.rows import get_or_refuse
from apps.events.enums import EventType
from apps.events.record import record_event
from apps.items.models import StoredItem
from apps.memories.ledger.record import record
from apps.memories.models import (
    Entity,
    EvaluationItem,
    EvaluationLabel,
    Memory,
    MemoryLink,
    MemoryOrigin,
    MemoryVersion,
)
from apps.outbox import enqueue
from apps.outbox.leases import interrupt
from apps.outbox.models import OutboxRow
from apps.pipeline.core import identifiers
from apps.pipeline.core.enums import WorkKind
from apps.pipeline.core.identifiers import Prefix, new_id, parse, show
from apps.providers import registry
from apps.tenants.end_users import UserBeingErased, keep_from_writers
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import (
    ConfigurationVersion,
    IdempotentRequest,
    ModelCall,
    ReplayedTrace,
    Session,
    Span,
    Trace,
    Turn,
)
from apps.traces.policies import policy_of


def end_session(
    *, project_id: UUID, end_user_id: UUID, session_id: UUID, api_key_id: UUID | None = None
) -> UUID | None:
    """End a session and enqueue its session-level extraction, in one transaction; repeating it enqueues nothing.

    Return the trace of the extraction, None if there is nothing new to extract from. It has the scope of the latest
    request of the session.

    Its turns that wait for further ones are due now. Nothing is enqueued if no turn is new since the last extraction,
    or if no model extracts. Later turns reopen the session. Raises NotFound, also while the end user is being erased.
    """
    with transaction.atomic():
        try:
            keep_from_writers(end_user_id)
        except UserBeingErased as erased:
            raise NotFound("there is no such session") from erased
        sessions = Session.objects.select_for_update(no_key=True)  # memories may go on referring to it
        session = get_or_refuse(
            sessions.filter(project_id=project_id, end_user_id=end_user_id, id=session_id), "session"
        )
        session.ended_at = session.ended_at or timezone.now()
        session.save(update_fields=["ended_at"])
        enqueue.stop_waiting(end_user_id=end_user_id, session_id=session.id)
        open_work = OutboxRow.objects.open().filter(end_user_id=end_user_id, session_id=session.id)
        queued = open_work.filter(kind=WorkKind.EXTRACT_SESSION).values_list("subject_id", flat=True).first()
        if queued is not None:
            return queued
        configuration = ConfigurationVersion.objects.get(project_id=project_id, is_active=True)
        extraction = policy_of(configuration.id).extraction
        if session.summarised_until >= session.turn_count or not registry.asks_model(extraction):
            return None
        latest = Trace.objects.filter(end_user_id=end_user_id, session=session).order_by("-created_at", "-id")
        trace = Trace.objects.create(
            id=new_id(),
            end_user_id=end_user_id,
            project_id=project_id,
            session=session,
            configuration=configuration,
            api_key_id=api_key_id,
            agent_scope=latest.values_list("agent_scope", flat=True).first() or {},
        )
        enqueue.enqueue(
            end_user_id=end_user_id,
            project_id=project_id,
            kind=WorkKind.EXTRACT_SESSION,
            subject_ids=[trace.id],
            session_id=session.id,
        )
        return trace.id


BATCH = 500  # sessions per run; the next run follows a minute later


def end_idle_sessions() -> int:
    """End sessions that have been idle for SESSION_IDLE_MINUTES; return how many were ended."""
    before = timezone.now() - timedelta(minutes=settings.SESSION_IDLE_MINUTES)
    idle = Session.objects.filter(ended_at__isnull=True, last_turn_at__lt=before).order_by("last_turn_at")[:BATCH]
    with system_scope(SystemWork.SCHEDULE):
        sessions = list(idle)
    for session in sessions:
        with tenant_scope(project_id=session.project_id, end_user_id=session.end_user_id):
            end_session(project_id=session.project_id, end_user_id=session.end_user_id, session_id=session.id)
    return len(sessions)


def delete_turn(*, project_id: UUID, turn_id: UUID) -> dict[str, int]:
    """Delete one turn and what hangs on it; return how many memories were deleted. Raises NotFound, Conflict."""
    with transaction.atomic():
        turn = get_or_refuse(
            Turn.objects.filter(id=turn_id, session__project_id=project_id).select_related("session"), "turn"
        )
        memories = _delete(turn.session, [turn_id], whole=False)
        deleted = {"turns": 1, "memories": len(memories), "items": 0}
        details = {"rows": deleted, "memories": memories}
        user = turn.session.end_user_id
        record("turn_deleted", "turn", turn_id, project_id=project_id, end_user_id=user, details=details)
    return deleted


def delete_session(*, project_id: UUID, user_id: str, session_id: str) -> dict[str, int]:
    """Delete a session, its turns and what hangs on them; return how many were deleted. Raises NotFound, Conflict."""
    user = identifiers.end_user_id(project_id=project_id, user_id=user_id)
    named = identifiers.session_id(end_user_id=user, session_id=session_id)
    with transaction.atomic():
        session = Session.objects.filter(project_id=project_id, end_user_id=user, id=named).first()
        keep_from_writers(user)
        items = StoredItem.objects.filter(end_user_id=user, session_id=session_id).delete()[0]
        if session is None and not items:
            raise NotFound("there is no such session")
        deleted = {"turns": 0, "memories": 0, "items": items}
        details: dict[str, Any] = {"rows": deleted}
        if session is not None:
            turns = list(Turn.objects.filter(end_user_id=user, session=session).values_list("id", flat=True))
            details["memories"] = _delete(session, turns, whole=True)
            deleted |= {"turns": len(turns), "memories": len(details["memories"])}
        record("session_deleted", "session", named, project_id=project_id, end_user_id=user, details=details)
    return deleted


def _delete(session: Session, turns: Sequence[UUID], *, whole: bool) -> list[str]:
    """Delete turns in the lock order of the writers: end user, session, memories, lease, the rest.

    Return the memories that were deleted with them.
    """
    user = session.end_user_id
    keep_from_writers(user)
    Session.objects.select_for_update().get(end_user_id=user, id=session.id)

    origins = MemoryOrigin.objects.filter(end_user_id=user, memory=OuterRef("pk"))
    from_these, from_others = Exists(origins.filter(turn__in=turns)), Exists(origins.exclude(turn__in=turns))
    labels = EvaluationLabel.objects.filter(end_user_id=user, item__turn__in=turns, remembered_id__isnull=False)
    # What these turns alone state, or a labeller has stored of them; of a whole session also what was stored directly.
    come = Q(from_these) | Q(id__in=labels.values("remembered_id"))
    if whole:
        come |= Q(session=session)
    of_user = Memory.objects.for_end_user(user).order_by("id").select_for_update()
    memories = list(of_user.filter(come, ~from_others).values_list("id", flat=True))
    kept = list(of_user.filter(from_these, from_others).only("id", "version"))

    entities: set[UUID] = set()  # their subjects and objects
    of_memories = Memory.objects.filter(end_user_id=user, id__in=memories).values_list("subject", "object")
    for subject_id, value in of_memories:
        if subject_id is not None:
            entities.add(subject_id)
        if "entity" in value:
            entities.add(parse(Prefix.ENTITY, value["entity"]))
    interrupt(end_user_id=user)
    EvaluationItem.objects.filter(end_user_id=user, memory__in=memories).delete()
    Memory.objects.filter(end_user_id=user, superseded_by__in=memories).update(superseded_by=None)
    Memory.objects.filter(end_user_id=user, id__in=memories).delete()  # with history, vectors, links and comments
    _detach_others(session, turns, kept)
    _delete_entities(user, entities)
    _delete_traces(session, turns, whole=whole)
    IdempotentRequest.objects.filter(end_user_id=user).delete()
    for memory_id in memories:
        record_event(
            project_id=session.project_id,
            type=EventType.MEMORY_DELETED,
            end_user_id=user,
            memory_id=memory_id,
            details={"verb": "deleted"},
        )
    return [str(each) for each in memories]


def _detach_others(session: Session, turns: Sequence[UUID], kept: Sequence[Memory]) -> None:
    """Take the quotes and the history that come from the turns from the memories that others state.

    The context of a memory quotes neighbouring turns, so it is removed from all memories of the session.
    """
    user = session.end_user_id
    origins = MemoryOrigin.objects.filter(end_user_id=user)
    origins.filter(turn__in=turns).delete()
    MemoryVersion.objects.filter(end_user_id=user, memory__in=kept).delete()
    latest = origins.filter(memory__in=kept).order_by("memory_id", "withdrawn", "-said_at", "-id").distinct("memory_id")
    by_memory = {origin.memory_id: origin for origin in latest}
    for memory in kept:
        origin = by_memory[memory.id]
        memory.evidence, memory.context = origin.evidence, ""
        memory.trace_id, memory.session_id, memory.candidate_index = origin.trace_id, origin.session_id, None
        memory.version += 1
    Memory.objects.for_end_user(user).bulk_update(
        kept, ["evidence", "context", "trace", "session", "candidate_index", "version"]
    )
    Memory.objects.for_end_user(user).filter(session=session).exclude(context="").update(context="")


def _delete_entities(user: UUID, entities: Collection[UUID]) -> None:
    """Delete those of some entities, with their names, that nothing refers to any more."""
    memories = Memory.objects.for_end_user(user)
    merged = Entity.objects.filter(end_user_id=user, merged_into__in=entities)
    shown = {show(Prefix.ENTITY, each) for each in entities}
    used = {
        *merged.values_list("merged_into", flat=True),
        *memories.filter(subject__in=entities).values_list("subject", flat=True),
        *(
            parse(Prefix.ENTITY, value["entity"])
            for value in memories.filter(object__entity__in=shown).values_list("object", flat=True)
        ),
    }
    Entity.objects.filter(end_user_id=user, is_user=False, id__in=set(entities) - used).delete()


def _delete_traces(session: Session, turns: Sequence[UUID], *, whole: bool) -> None:
    """Delete the traces that have no turn left, and the session if it is deleted as a whole."""
    user = session.end_user_id
    traces = Trace.objects.filter(end_user_id=user, session=session)
    of_session = list(traces.values_list("id", flat=True))
    own = traces if whole else traces.filter(turns__in=turns)
    ids = set(own.distinct().values_list("id", flat=True))
    # Traces without turns of their own have read those of the whole session.
    touched = ids | set(traces.filter(turns__isnull=True).values_list("id", flat=True))
    ReplayedTrace.objects.filter(end_user_id=user, trace__in=of_session).delete()
    # A trace of deleted and other turns keeps its counts. An answer may come from a call that several traces shared.
    traces.filter(id__in=touched).update(outcomes=[], plan=[], error="")
    ModelCall.objects.filter(end_user_id=user, trace__in=of_session).update(answer="", error="")
    EvaluationItem.objects.filter(end_user_id=user, turn__in=turns).delete()
    Turn.objects.filter(end_user_id=user, id__in=turns).delete()
    ended = list(traces.filter(id__in=ids, turns__isnull=True).values_list("id", flat=True))
    Memory.objects.filter(end_user_id=user, trace__in=ended).update(trace=None, candidate_index=None)
    MemoryVersion.objects.filter(end_user_id=user, trace__in=ended).update(trace=None)
    MemoryLink.objects.filter(end_user_id=user, trace__in=ended).update(trace=None)
    for model in (ModelCall, Span):
        model.objects.filter(end_user_id=user, trace__in=ended).delete()
    OutboxRow.objects.filter(end_user_id=user, subject_id__in=ended).delete()
    traces.filter(id__in=ended).delete()
    if whole:
        Memory.objects.filter(end_user_id=user, session=session).update(session=None)
        OutboxRow.objects.filter(end_user_id=user, session_id=session.id).delete()
        Session.objects.filter(end_user_id=user, id=session.id).delete()
