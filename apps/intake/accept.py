"""Accept a request: commit its turns, its trace and the pipeline run to do, then answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from apps.intake.intake_precondition import IntakeState, LockedSession, lock_session
from apps.intake.quotas import check_queue_limit, check_quotas
from apps.intake.session_cache import recall, remember
from apps.outbox import enqueue
from apps.pipeline import flow
from apps.pipeline.core.agent_scope import UNSCOPED, AgentScope
from apps.pipeline.core.draft import Draft, Origin, Request
from apps.pipeline.core.enums import Batching, Stage, TraceStatus, WorkKind
from apps.pipeline.core.identifiers import end_user_id, new_id, session_id
from apps.pipeline.core.placeholders import count_placeholders
from apps.pipeline.core.policy import RedactionPolicy
from apps.pipeline.core.turn import NewTurn, SourceTurn
from apps.pipeline.extraction.small_talk_filter import probably_tells
from apps.pipeline.redaction.redact import redact, redact_json
from apps.providers import registry
from apps.telemetry.metrics import count_stages
from apps.telemetry.tracing import current_traceparent, stage_span
from apps.tenants.models import EndUser
from apps.tenants.scope import tenant_scope
from apps.traces.models import TURN_COLUMNS, Session, Span, Trace, Turn
from apps.traces.policies import policy_of
from apps.traces.recorder import spans_of
from apps.traces.trace_report import report_of


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
    is_awaited: bool = False  # by a caller who waits for the outcome: the run doesn't wait for further turns


@dataclass(frozen=True, slots=True)
class Accepted:
    """The trace of an accepted request; its status is `rejected` where the pre-filter rejected every turn."""

    trace_id: UUID
    status: TraceStatus
    end_user_id: UUID
    redacted: Mapping[str, int] = field(default_factory=dict)  # placeholders in the turns, by kind of data


@dataclass(frozen=True, slots=True)
class _Judged:
    """What the pre-filter made of a submission, and the state of the session that it was judged from."""

    draft: Draft
    state: IntakeState

    @property
    def status(self) -> TraceStatus:
        return TraceStatus.QUEUED if self.draft.turns else TraceStatus.REJECTED


def accept(*, submission: Submission) -> Accepted:
    """Accept turns.

    Raises QueueFull if too many turns of the project are waiting, QuotaExceeded, KeyRefused, UserErasing, and
    ProjectArchived.

    1. Take the state of the session (its last turns) from this process's cache.
    2. Redact the new turns and apply the pre-filter to them; nothing is stored, logged or hashed of the text before.
    3. In one transaction, lock the session, judge again where the cached state was outdated, append the turns to the
       session, record the request, and enqueue the pipeline run unless every turn was rejected.
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
    judged = _judge(submission, origin, recall(origin))
    with transaction.atomic():
        judged, at = _place(submission, judged)
        _record(judged, at)
        if judged.draft.turns and not submission.is_awaited:
            _let_wait(judged.draft)
    request = judged.draft.request
    remember(request=request, state=judged.state, at=at)
    count_stages(judged.draft.spans)
    return Accepted(
        trace_id=request.trace_id,
        status=judged.status,
        end_user_id=origin.end_user_id,
        redacted=count_placeholders(turn.content for turn in request.turns),
    )


def _judge(submission: Submission, origin: Origin, state: IntakeState) -> _Judged:
    """Redact the turns and apply the pre-filter to them, after the turns of a state."""
    policy = policy_of(state.configuration_id)
    request = _request(_redacted(submission, policy.redaction), origin, state)
    with stage_span(Stage.PRE_FILTER):
        return _Judged(flow.screen(Draft.start(request=request, policy=policy)), state)


def _place(submission: Submission, judged: _Judged) -> tuple[_Judged, datetime]:
    """Give the turns their places in the locked session; return them, judged from its actual state, and their time."""
    while True:
        request = judged.draft.request
        locked = lock_session(expected=judged.state, request=request)
        if locked.state is not judged.state:
            judged = _judge(submission, request.origin, locked.state)
        is_placed = place_turns(
            origin=request.origin,
            user_id=submission.user_id,
            session_id=submission.session_id,
            locked=locked,
            turn_count=len(submission.turns),
        )
        if is_placed:
            return judged, locked.at


def _record(judged: _Judged, at: datetime) -> None:
    """Record the request and enqueue its run; the lease is locked after the session, as everywhere."""
    request = judged.draft.request
    record_request(draft=judged.draft, configuration_id=judged.state.configuration_id, status=judged.status, at=at)
    if judged.draft.turns:
        enqueue.enqueue(
            end_user_id=request.origin.end_user_id,
            project_id=request.origin.project_id,
            kind=WorkKind.RUN_PIPELINE,
            subject_ids=[request.trace_id],
            session_id=request.origin.session_id,
            turn_count=len(request.turns),
        )


def _let_wait(draft: Draft) -> None:
    """Let the run wait for further turns of its session, where the policy says so and a model would be asked.

    A request that probably contains nothing worth remembering causes no call by itself, unless the turns fill one.
    """
    extraction = draft.policy.extraction
    if not registry.asks_model(extraction):
        return
    tells = any(probably_tells(turn.content) for turn in draft.turns)
    quiet, most_turns = timedelta(seconds=extraction.batch_quiet_seconds), extraction.batch_turns
    if extraction.batching is Batching.EAGER:
        most_turns = 1
    elif extraction.batching is Batching.THRIFTY:
        quiet, most_turns = timedelta(minutes=settings.SESSION_IDLE_MINUTES + 1), extraction.max_turns
    enqueue.let_wait(
        end_user_id=draft.request.origin.end_user_id,
        session_id=draft.request.origin.session_id,
        quiet=quiet,
        most_turns=most_turns if tells else extraction.max_turns,
    )


def _redacted(submission: Submission, policy: RedactionPolicy) -> Submission:
    """Return the submission without the sensitive data that the policy masks or drops."""
    turns = tuple(_redacted_turn(turn, policy) for turn in submission.turns)
    topic = redact(submission.topic, policy=policy).text
    metadata = redact_json(submission.metadata, policy=policy)
    if (turns, topic, metadata) == (submission.turns, submission.topic, submission.metadata):
        return submission
    return replace(submission, turns=turns, topic=topic, metadata=metadata)


def _redacted_turn(turn: NewTurn, policy: RedactionPolicy) -> NewTurn:
    content, speaker = redact(turn.content, policy=policy).text, redact(turn.speaker, policy=policy).text
    if (content, speaker) == (turn.content, turn.speaker):  # as nearly always
        return turn
    return replace(turn, content=content, speaker=speaker)


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
        traceparent=current_traceparent(),
    )


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
