"""Accept a request: commit its turns, its trace and the pipeline run to do, then answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.db import connection
from django.utils import timezone

from apps.intake import intake_sql
from apps.intake.backpressure import check_queue_limit
from apps.intake.intake_precondition import AGREED_CTES, SELECT_STATE, IntakeState, expected_state, intake_state
from apps.intake.quotas import check_quotas
from apps.intake.session_cache import CachedSession, recall, remember
from apps.memories.compact_sql import compact_sql
from apps.outbox import enqueue
from apps.pipeline import flow
from apps.pipeline.core.agent_scope import UNSCOPED, AgentScope
from apps.pipeline.core.draft import Draft, Origin, Request
from apps.pipeline.core.enums import Stage, TraceStatus, WorkKind
from apps.pipeline.core.identifiers import end_user_id, new_id, session_id
from apps.pipeline.core.placeholders import count_placeholders
from apps.pipeline.core.policy import RedactionPolicy
from apps.pipeline.core.turn import NewTurn, SourceTurn
from apps.pipeline.redaction.redact import redact, redact_json
from apps.telemetry.request_context import request_context
from apps.telemetry.stages import count_stages, stage_span
from apps.tenants.scope import tenant_scope
from apps.traces.policies import policy_of


@dataclass(frozen=True, slots=True)
class Submission:
    """Turns of one session that a caller submits."""

    project_id: UUID
    api_key_id: UUID | None
    user_id: str
    session_id: str
    turns: tuple[NewTurn, ...]
    topic: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    agent_scope: AgentScope = UNSCOPED


@dataclass(frozen=True, slots=True)
class Accepted:
    """The trace of an accepted request; its status is `rejected` where the pre-filter rejected every turn."""

    trace_id: UUID
    status: TraceStatus
    end_user_id: UUID
    redacted: Mapping[str, int] = field(default_factory=dict)  # placeholders in the turns, by kind of data


_RECORD, _RECORD_AND_ENQUEUE = (
    compact_sql(f"with {AGREED_CTES}, {rows} {SELECT_STATE}")
    for rows in (
        f"{intake_sql.PLACED_CTES}, {intake_sql.RECORD_CTES}",
        f"{intake_sql.PLACED_CTES}, {intake_sql.RECORD_CTES}, {enqueue.ENQUEUE_CTES}",
    )
)


def accept(*, submission: Submission) -> Accepted:
    """Accept turns.

    Raises QueueFull if too many turns of the project are waiting, QuotaExceeded, KeyRefused, UserErasing, and
    ProjectArchived.

    1. Take the state of the session (its last turns) from this process's cache.
    2. Redact the new turns and apply the pre-filter to them; nothing is stored, logged or hashed of the text before.
    3. In one statement, check that the cached state is current, append the turns to the session, record the request,
       and enqueue the pipeline run unless every turn was rejected.
    4. If the cached state was outdated, nothing was written. Repeat once from the state that the statement returned,
       without the check.
    """
    user = end_user_id(project_id=submission.project_id, user_id=submission.user_id)
    with tenant_scope(project_id=submission.project_id, end_user_id=user):
        return _accept(submission, user)


def _accept(submission: Submission, user: UUID) -> Accepted:
    check_queue_limit(project_id=submission.project_id)
    check_quotas(project_id=submission.project_id)
    session = session_id(end_user_id=user, session_id=submission.session_id)
    origin = Origin(
        submission.project_id,
        end_user_id=user,
        session_id=session,
        api_key_id=submission.api_key_id,
        agent_scope=submission.agent_scope,
    )
    state, unconditional = recall(origin), False
    while True:
        policy = policy_of(state.configuration_id)
        redacted = _redacted(submission, policy.redaction)
        request = _request(redacted, origin, state)
        with stage_span(Stage.PRE_FILTER):
            draft = flow.screen(Draft.start(request=request, policy=policy))
        written = _write(submission, draft, state, unconditional=unconditional)
        if isinstance(written, CachedSession):
            break
        state, unconditional = written, True
    remember(request=request, state=state, placed=written)
    count_stages(draft.spans)
    return Accepted(
        trace_id=request.trace_id,
        status=_status(draft),
        end_user_id=origin.end_user_id,
        redacted=count_placeholders(turn.content for turn in request.turns),
    )


def _redacted(submission: Submission, policy: RedactionPolicy) -> Submission:
    """Return the submission without the sensitive data that the policy masks or drops."""
    return replace(
        submission,
        turns=tuple(
            replace(
                turn,
                content=redact(turn.content, policy=policy).text,
                speaker=redact(turn.speaker, policy=policy).text,
            )
            for turn in submission.turns
        ),
        topic=redact(submission.topic, policy=policy).text,
        metadata=redact_json(submission.metadata, policy=policy),
    )


def _status(draft: Draft) -> TraceStatus:
    return TraceStatus.QUEUED if draft.turns else TraceStatus.REJECTED


def _write(
    submission: Submission, draft: Draft, state: IntakeState, *, unconditional: bool
) -> CachedSession | IntakeState:
    """Record a request, or return the actual state where it differs from the one that the draft was made from."""
    values = intake_sql.record_values(
        draft=draft,
        user_id=submission.user_id,
        session_id=submission.session_id,
        configuration_id=state.configuration_id,
        status=_status(draft),
    )
    values |= expected_state(state, request=draft.request, unconditional=unconditional)
    if draft.turns:
        values |= {"kind": WorkKind.RUN_PIPELINE.value, "subjects": [draft.request.trace_id]}
    with connection.cursor() as cursor:
        cursor.execute(_RECORD_AND_ENQUEUE if draft.turns else _RECORD, values)
        row = cursor.fetchone()
    _, shift, at, *_ = row
    return intake_state(row) if at is None else CachedSession(shift=shift, at=at)


def _request(submission: Submission, origin: Origin, state: IntakeState) -> Request:
    now = timezone.now()
    return Request(
        trace_id=new_id(),
        origin=origin,
        turns=tuple(
            SourceTurn.accepted(turn, id=new_id(), position=position, received_at=now)
            for position, turn in enumerate(submission.turns, start=state.turn_count)
        ),
        earlier_turns=state.earlier_turns,
        topic=submission.topic,
        metadata=submission.metadata,
        traceparent=request_context().traceparent,
    )
