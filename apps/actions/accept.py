"""Accept a request: its turns, its trace and the work it owes are committed together, then answered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from apps.actions.backpressure import check_room
from apps.actions.look_back import Found, look_back
from apps.outbox import owing
from apps.pipeline import flow
from apps.pipeline.draft import Draft, Origin, Request, SourceTurn
from apps.pipeline.identifiers import end_user_id, new_id, session_id
from apps.pipeline.vocabulary import Role, TraceStatus, WorkKind
from apps.traces import arrivals
from apps.traces.drafts import policy_of


@dataclass(frozen=True, slots=True)
class NewTurn:
    """One message as the caller sends it."""

    role: Role
    content: str
    speaker: str = ""
    occurred_at: datetime | None = None
    turn_id: str = ""
    utc_offset: int = 0  # minutes east of UTC, of the clock by which `occurred_at` was told


@dataclass(frozen=True, slots=True)
class Submission:
    """Turns of one session that a caller wants remembered."""

    project_id: UUID
    api_key_id: UUID | None
    user_id: str
    session_id: str
    turns: tuple[NewTurn, ...]
    topic: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Accepted:
    """The trace of an accepted request; `rejected` when the rules left nothing to do."""

    trace_id: UUID
    status: TraceStatus
    end_user_id: UUID


_RECORDED = f"with {arrivals.PLACED}, {arrivals.RECORDED} select"
_RECORDED_AND_OWED = f"with {arrivals.PLACED}, {arrivals.RECORDED}, {owing.OWED} select"


def accept(*, submission: Submission) -> Accepted:
    """Accept turns. Raises QueueFull when the project has too much waiting, and KeyRefused.

    1. Look at the session's last turns.
    2. Let the rules reject what can't hold a memory.
    3. In one statement, place the turns behind those of their session, record the request, and owe the run of the
       pipeline for what is left.
    """
    check_room(project_id=submission.project_id)
    origin = _origin(submission)
    found = look_back(origin=origin, turn_ids=[turn.turn_id for turn in submission.turns if turn.turn_id])
    request = _request(submission, origin, found)
    draft = flow.screen(Draft.start(request=request, policy=policy_of(found.configuration_id)))
    status = TraceStatus.QUEUED if draft.turns else TraceStatus.REJECTED
    _write(submission, draft, found.configuration_id, status)
    return Accepted(trace_id=request.trace_id, status=status, end_user_id=origin.end_user_id)


def _write(submission: Submission, draft: Draft, configuration_id: UUID, status: TraceStatus) -> None:
    values = arrivals.arrival(
        draft=draft,
        user_id=submission.user_id,
        session_id=submission.session_id,
        configuration_id=configuration_id,
        status=status,
    )
    owed = {"kind": WorkKind.RUN_PIPELINE.value, "subjects": [draft.request.trace_id]}
    with connection.cursor() as cursor:
        if status is TraceStatus.QUEUED:
            cursor.execute(_RECORDED_AND_OWED, values | owed)
        else:
            cursor.execute(_RECORDED, values)


def _origin(submission: Submission) -> Origin:
    user = end_user_id(project_id=submission.project_id, user_id=submission.user_id)
    return Origin(
        project_id=submission.project_id,
        end_user_id=user,
        session_id=session_id(end_user_id=user, session_id=submission.session_id),
        api_key_id=submission.api_key_id,
    )


def _request(submission: Submission, origin: Origin, found: Found) -> Request:
    return Request(
        trace_id=new_id(),
        origin=origin,
        turns=tuple(
            _source_turn(turn, position=position, now=found.now)
            for position, turn in enumerate(submission.turns, start=found.turn_count)
        ),
        earlier_turns=found.earlier_turns,
        topic=submission.topic,
        metadata=submission.metadata,
    )


def _source_turn(turn: NewTurn, *, position: int, now: datetime) -> SourceTurn:
    return SourceTurn(
        id=new_id(),
        position=position,
        role=turn.role,
        content=turn.content,
        received_at=now,
        speaker=turn.speaker,
        occurred_at=turn.occurred_at,
        external_id=turn.turn_id,
        utc_offset=turn.utc_offset,
    )
