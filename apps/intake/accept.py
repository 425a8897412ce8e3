"""Accept a request: its turns, its trace and the work it owes are committed together, then answered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection
from django.utils import timezone

from apps.intake import intake_sql
from apps.intake.backpressure import check_room
from apps.intake.intake_precondition import AGREED, FOUND, IntakeState, expected_state, intake_state
from apps.intake.session_cache import CachedSession, recall, remember
from apps.outbox import enqueue
from apps.pipeline import flow
from apps.pipeline.core.draft import Draft, Origin, Request
from apps.pipeline.core.enums import TraceStatus, WorkKind
from apps.pipeline.core.identifiers import end_user_id, new_id, session_id
from apps.pipeline.core.turn import NewTurn, SourceTurn
from apps.traces.policies import policy_of


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


# In one line: psycopg works out anew, each time, what a text of more than 4,096 characters says.
_RECORDED, _RECORDED_AND_OWED = (
    " ".join(f"with {AGREED}, {rows} {FOUND}".split())
    for rows in (
        f"{intake_sql.PLACED}, {intake_sql.RECORDED}",
        f"{intake_sql.PLACED}, {intake_sql.RECORDED}, {enqueue.OWED}",
    )
)


def accept(*, submission: Submission) -> Accepted:
    """Accept turns. Raises QueueFull when the project has too much waiting, and KeyRefused.

    1. Recall the last turns of the session.
    2. Let the rules reject what can't hold a memory.
    3. In one statement, see whether all is as recalled; then place the turns behind those of their session, record the
       request, and owe the run of the pipeline for what is left.
    4. Where it is not, nothing was written: once more, from what was found instead, and whatever arrived since.
    """
    check_room(project_id=submission.project_id)
    origin = _origin(submission)
    found, as_it_is = recall(origin), False
    while True:
        draft = _screened(submission, origin, found)
        written = _written(submission, draft, found, as_it_is=as_it_is)
        if isinstance(written, CachedSession):
            break
        found, as_it_is = written, True
    remember(request=draft.request, found=found, placed=written)
    return Accepted(trace_id=draft.request.trace_id, status=_status(draft), end_user_id=origin.end_user_id)


def _screened(submission: Submission, origin: Origin, found: IntakeState) -> Draft:
    request = _request(submission, origin, found)
    return flow.screen(Draft.start(request=request, policy=policy_of(found.configuration_id)))


def _status(draft: Draft) -> TraceStatus:
    return TraceStatus.QUEUED if draft.turns else TraceStatus.REJECTED


def _written(
    submission: Submission, draft: Draft, found: IntakeState, *, as_it_is: bool
) -> CachedSession | IntakeState:
    """Write a request down, unless something else is found than it was judged by."""
    values = intake_sql.arrival(
        draft=draft,
        user_id=submission.user_id,
        session_id=submission.session_id,
        configuration_id=found.configuration_id,
        status=_status(draft),
    )
    values |= expected_state(found, request=draft.request, as_it_is=as_it_is)
    if draft.turns:
        values |= {"kind": WorkKind.RUN_PIPELINE.value, "subjects": [draft.request.trace_id]}
    with connection.cursor() as cursor:
        cursor.execute(_RECORDED_AND_OWED if draft.turns else _RECORDED, values)
        row = cursor.fetchone()
    _, shift, at, *_ = row
    return intake_state(row) if at is None else CachedSession(shift=shift, at=at)


def _origin(submission: Submission) -> Origin:
    user = end_user_id(project_id=submission.project_id, user_id=submission.user_id)
    return Origin(
        project_id=submission.project_id,
        end_user_id=user,
        session_id=session_id(end_user_id=user, session_id=submission.session_id),
        api_key_id=submission.api_key_id,
    )


def _request(submission: Submission, origin: Origin, found: IntakeState) -> Request:
    now = timezone.now()
    return Request(
        trace_id=new_id(),
        origin=origin,
        turns=tuple(
            SourceTurn.accepted(turn, id=new_id(), position=position, received_at=now)
            for position, turn in enumerate(submission.turns, start=found.turn_count)
        ),
        earlier_turns=found.earlier_turns,
        topic=submission.topic,
        metadata=submission.metadata,
    )
