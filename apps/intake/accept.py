"""Accept a request: commit its turns, its trace and the pipeline run to do, then answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Subquery, Value
from django.db.models.functions import Now
from django.utils import timezone

from apps.common.errors import ProjectArchived, Refused
from apps.intake.quotas import check_queue_limit, check_quotas
from apps.outbox import enqueue
from apps.pipeline import flow
from apps.pipeline.core.agent_scope import UNSCOPED, AgentScope
from apps.pipeline.core.draft import Draft, Origin, Request
from apps.pipeline.core.enums import Batching, Stage, TraceStatus, WorkKind
from apps.pipeline.core.identifiers import end_user_id, new_id, session_id
from apps.pipeline.core.placeholders import count_placeholders
from apps.pipeline.core.policy import MOST_REPEAT_WINDOW, RedactionPolicy
from apps.pipeline.core.turn import NewTurn, SourceTurn
from apps.pipeline.extraction.small_talk_filter import probably_tells
from apps.pipeline.prefilter.conversation import EARLIER_TURN_CHARACTERS
from apps.pipeline.redaction.redact import redact, redact_json
from apps.providers import registry
from apps.telemetry.metrics import count_stages
from apps.telemetry.tracing import current_traceparent, stage_span
from apps.tenants.keys import usable_keys
from apps.tenants.models import Project
from apps.tenants.scope import tenant_scope
from apps.traces.get_or_create import open_end_user
from apps.traces.models import TURN_COLUMNS, ConfigurationVersion, Session, Span, Trace, Turn
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


class KeyRefused(Refused):
    """The API key of the request was revoked or has expired."""


_TICK = timedelta(microseconds=1)  # the resolution of the database's times


def accept(*, submission: Submission) -> Accepted:
    """Accept turns.

    Raises QueueFull if too many turns of the project are waiting, QuotaExceeded, KeyRefused, ProjectArchived, and
    Conflict while the end user is being erased.

    All of it is one transaction: lock the end user and the session, redact the new turns and apply the pre-filter to
    them, append them to the session, record the request, and enqueue the pipeline run unless every turn was rejected.
    Nothing is stored, logged or hashed of a text before it is redacted.
    """
    user = end_user_id(project_id=submission.project_id, user_id=submission.user_id)
    with tenant_scope(project_id=submission.project_id, end_user_id=user):
        check_queue_limit(project_id=submission.project_id)
        check_quotas(project_id=submission.project_id)
        with transaction.atomic():
            draft = _write(submission)
    count_stages(draft.spans)
    return Accepted(
        trace_id=draft.request.trace_id,
        status=_status_of(draft),
        end_user_id=user,
        redacted=count_placeholders(turn.content for turn in draft.request.turns),
    )


def _write(submission: Submission) -> Draft:
    """Store what `accept` stores, in its transaction. Raises KeyRefused, ProjectArchived."""
    user = open_end_user(project_id=submission.project_id, user_id=submission.user_id)
    derived = session_id(end_user_id=user.id, session_id=submission.session_id)
    session = Session.objects.select_for_update(no_key=True).filter(end_user=user, id=derived).first()
    active = ConfigurationVersion.objects.filter(project_id=OuterRef("id"), is_active=True).values("id")
    key_holds = Exists(usable_keys().filter(id=submission.api_key_id)) if submission.api_key_id else Value(True)
    # By a statement that begins after the locks are held, so that its time is later than that of all turns before.
    project = Project.objects.annotate(version=Subquery(active), key_holds=key_holds, now=Now())
    archived_at, configuration_id, holds, now = project.values_list("archived_at", "version", "key_holds", "now").get(
        id=submission.project_id
    )
    if not holds:
        raise KeyRefused("the key was revoked or has expired")
    if archived_at is not None:
        raise ProjectArchived
    if session is None:
        session = Session.objects.create(
            id=derived,
            end_user=user,
            project_id=submission.project_id,
            external_id=submission.session_id,
            started_at=now,
            last_turn_at=now - _TICK,
        )
    at = max(now, session.last_turn_at + _TICK)

    policy = policy_of(configuration_id)
    request = _redacted_request(submission, session, policy.redaction)
    with stage_span(Stage.PRE_FILTER):
        draft = flow.screen(Draft.start(request=request, policy=policy))

    session.turn_count += len(request.turns)
    session.last_turn_at, session.ended_at = at, None
    session.save(update_fields=["turn_count", "last_turn_at", "ended_at"])
    _record(draft, configuration_id, at)
    if draft.turns:
        enqueue.enqueue(
            end_user_id=user.id,
            project_id=submission.project_id,
            kind=WorkKind.RUN_PIPELINE,
            subject_ids=[request.trace_id],
            session_id=session.id,
            turn_count=len(request.turns),
        )
        if not submission.is_awaited:
            _let_wait(draft)
    return draft


def _status_of(draft: Draft) -> TraceStatus:
    return TraceStatus.QUEUED if draft.turns else TraceStatus.REJECTED


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


def _redacted_request(submission: Submission, session: Session, policy: RedactionPolicy) -> Request:
    """Return the request without the sensitive data that the policy masks or drops."""
    now = timezone.now()
    redacted = [
        replace(
            turn,
            content=redact(turn.content, policy=policy).text,
            speaker=redact(turn.speaker, policy=policy).text,
        )
        for turn in submission.turns
    ]
    earlier: tuple[SourceTurn, ...] = ()
    if session.turn_count:
        # What the rules need: the last few turns of the session, and any with one of the request's turn ids.
        turns = Turn.objects.filter(end_user_id=session.end_user_id, session=session, withdrawn=False)
        found = {turn.position: turn for turn in turns.order_by("-position")[:MOST_REPEAT_WINDOW]}
        if turn_ids := {turn.external_id for turn in submission.turns if turn.external_id}:
            found |= {turn.position: turn for turn in turns.filter(external_id__in=turn_ids)}
        sources = (found[position].as_source() for position in sorted(found))
        earlier = tuple(replace(turn, content=turn.content[:EARLIER_TURN_CHARACTERS]) for turn in sources)
    return Request(
        trace_id=new_id(),
        origin=Origin(
            submission.project_id,
            end_user_id=session.end_user_id,
            session_id=session.id,
            api_key_id=submission.api_key_id,
            agent_scope=submission.agent_scope,
        ),
        turns=tuple(
            SourceTurn.accepted(turn, id=new_id(), position=position, received_at=now)
            for position, turn in enumerate(redacted, start=session.turn_count)
        ),
        earlier_turns=earlier,
        topic=redact(submission.topic, policy=policy).text,
        metadata=redact_json(submission.metadata, policy=policy),
        traceparent=current_traceparent(),
    )


def _record(draft: Draft, configuration_id: UUID, at: datetime) -> None:
    """Insert the trace of a request, its turns and its first span."""
    request, origin = draft.request, draft.request.origin
    report, status = report_of(draft), _status_of(draft)
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
