"""View of POST /v1/turns."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

import msgspec
from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from msgspec import Meta
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from apps.api.authentication import REFUSED, Caller
from apps.api.openapi import documented
from apps.api.problems import Code
from apps.api.schemas.common import (
    CONTENT_CHARACTERS,
    AdjustmentResponse,
    AgentScopeBody,
    Identifier,
    Label,
    Metadata,
    Moment,
    RequestBody,
    ResponseBody,
    Topic,
    adjusted_text,
    adjusted_time,
    checked_metadata,
    checked_scope,
)
from apps.api.validation import read_body
from apps.api.views.base import ApiView, http_response, replayable_answer
from apps.intake.accept import Accepted, Submission, accept
from apps.intake.idempotency import IdempotencyInProgress
from apps.intake.idempotency import ReplayableAnswer as ReplayableAnswer
from apps.intake.intake_precondition import KeyRefused
from apps.pipeline.core.enums import Outcome, Role, Stage, TraceStatus
from apps.pipeline.core.identifiers import Prefix, end_user_id, parse, show
from apps.pipeline.core.input_validation import BadInput, checked_name, checked_said_at, cleaned_text, offset_of
from apps.pipeline.core.turn import NewTurn
from apps.traces.models import Trace
from apps.worker.run_now import run_now
from apps.worker.waiting_callers import permit_to_wait

MAX_TURNS = 100

OCCURRED_AT = (
    "RFC 3339 time at which the turn was said, with the UTC offset of the speaker: relative times such as yesterday "
    "are resolved from that local day. Without an offset, UTC. Without a time, relative times are not resolved."
)
OccurredAt = Annotated[Moment, Meta(description=OCCURRED_AT)]
# The length is checked separately: too much text has its own error code (too_large).
Content = Annotated[str, Meta(min_length=1, extra_json_schema={"maxLength": CONTENT_CHARACTERS})]


class Mode(StrEnum):
    """Whether the request waits for the outcome."""

    ASYNC = "async"
    SYNC = "sync"


class TurnBody(RequestBody):
    """One message of a conversation."""

    role: Role
    content: Content
    speaker: Label | None = None
    occurred_at: OccurredAt | None = None
    turn_id: Identifier | None = None


class TurnsBody(AgentScopeBody, kw_only=True):
    """Turns of one session, in order."""

    user_id: Identifier
    session_id: Identifier
    turns: Annotated[tuple[TurnBody, ...], Meta(min_length=1, max_length=MAX_TURNS)]
    mode: Mode = Mode.ASYNC
    topic: Topic | None = None
    metadata: Metadata | None = None


class TurnsAcceptedResponse(ResponseBody):
    """The turns are stored and will be processed; read the trace for the outcome.

    `adjusted` lists what was stored otherwise than it was sent. `redacted` counts the placeholders that stand in the
    turns in place of sensitive data, by kind: secret, card, iban, national_id, phone, email, custom.
    """

    trace_id: str
    status: TraceStatus
    adjusted: list[AdjustmentResponse]
    redacted: dict[str, int]


class OutcomeResponse(ResponseBody):
    """The outcome of one candidate, of a turn without any, or of a known memory that the user asked to forget.

    `detail` is the model's explanation of a discard. `forget_all_requested` tells that the user asked to forget
    everything: nothing was changed, and a person or the caller has to decide.
    """

    turn: str | None
    candidate: int | None
    content: str | None
    outcome: Outcome
    stage: Stage
    reason: str
    memory_id: str | None
    detail: str = ""


class TurnsResponse(TurnsAcceptedResponse):
    """The outcome of the turns. With status `dead` or `extraction_failed` nothing was stored; `error` says why."""

    turns: int
    rejected: dict[str, int]
    candidates: int
    stored: int
    merged: int
    superseded: int
    retracted: int
    pending_review: int
    discarded: int
    memory_ids: list[str]
    outcomes: list[OutcomeResponse]
    error: str = ""


def adjustments(body: TurnsBody, submitted: Submission) -> list[AdjustmentResponse]:
    """Return what was changed in the turns of a request before they were accepted."""
    return [
        each
        for index, (given, taken) in enumerate(zip(body.turns, submitted.turns, strict=True))
        for each in (
            adjusted_text(given.content, taken.content, at=f"/turns/{index}/content"),
            adjusted_time(given.occurred_at, taken.occurred_at, at=f"/turns/{index}/occurred_at"),
        )
        if each
    ]


def submission(body: TurnsBody, *, caller: Caller, now: datetime) -> Submission:
    """Convert the body to a submission, its texts cleaned. Raises BadInput, TooLarge."""
    seen: set[str] = set()
    for index, turn in enumerate(body.turns):
        if turn.turn_id in seen:
            raise BadInput("is used by two turns of this request", at=f"/turns/{index}/turn_id")
        if turn.turn_id:
            seen.add(turn.turn_id)
    return Submission(
        project_id=caller.project_id,
        api_key_id=caller.api_key_id,
        user_id=checked_name(body.user_id, at="/user_id"),
        session_id=checked_name(body.session_id, at="/session_id"),
        turns=tuple(_turn(turn, at=f"/turns/{index}", now=now) for index, turn in enumerate(body.turns)),
        topic=checked_name(body.topic or "", at="/topic"),
        metadata=checked_metadata(body.metadata, at="/metadata"),
        agent_scope=checked_scope(body),
        is_awaited=body.mode is Mode.SYNC,
    )


def _turn(turn: TurnBody, *, at: str, now: datetime) -> NewTurn:
    return NewTurn(
        role=turn.role,
        content=cleaned_text(turn.content, at=f"{at}/content", most=CONTENT_CHARACTERS),
        speaker=checked_name(turn.speaker or "", at=f"{at}/speaker"),
        occurred_at=checked_said_at(turn.occurred_at, at=f"{at}/occurred_at", now=now),
        external_id=checked_name(turn.turn_id or "", at=f"{at}/turn_id"),
        utc_offset=offset_of(turn.occurred_at),
    )


def turns_response(
    *,
    trace_id: str,
    status: TraceStatus,
    counts: dict[str, Any],
    outcomes: list[Any],
    error: str,
    adjusted: list[Any],
    redacted: dict[str, int],
) -> TurnsResponse:
    """Return the response for a finished trace."""
    counted = ("turns", "candidates", "stored", "merged", "superseded", "retracted", "pending_review", "discarded")
    nothing = dict.fromkeys(counted, 0)
    known = {"rejected": {}, "memory_ids": [], **nothing, **counts}
    ended = {"trace_id": trace_id, "status": status, "outcomes": outcomes, "error": error, "adjusted": adjusted}
    return msgspec.convert({**known, **ended, "redacted": redacted}, TurnsResponse)


_EXAMPLE = {
    "user_id": "ana",
    "session_id": "2026-03-02",
    "turns": [{"role": "user", "content": "I moved to Lisbon last month.", "occurred_at": "2026-03-02T09:12:00Z"}],
    "mode": "sync",
}


class TurnsView(ApiView):
    """Accepting turns."""

    action_checks_key = True

    @documented(
        operation="write_turns",
        summary="Send turns of a session",
        body=TurnsBody,
        responses={200: TurnsResponse, 202: TurnsAcceptedResponse},
        problems=(Code.QUEUE_FULL, Code.QUOTA_EXCEEDED),
        example=_EXAMPLE,
        repeatable=True,
    )
    def post(self, request: Request) -> HttpResponse:
        """Accept turns; they are stored durably before the response is sent.

        Mode `async` returns 202 with the trace. Mode `sync` waits and returns 200 with the outcome, or 202 if
        processing takes too long, the model does not answer or too many callers wait; processing then goes on in the
        background. An outcome
        with the status `dead` or `extraction_failed` has its reason in `error`. Control characters, invisible ones and
        those that reorder the displayed text are removed from `content`, and a time ahead of the server's clock becomes
        the present; `adjusted` lists such changes. Secrets and other sensitive data are replaced by placeholders
        before anything is stored, as the project's policy says; `redacted` counts them.
        """
        body = read_body(request, TurnsBody)
        submitted = submission(body, caller=self.caller, now=timezone.now())
        answer = self.idempotent(lambda: _accept(submitted, body))
        if body.mode is Mode.SYNC:
            answer = _outcome(answer, submitted)
        return http_response(answer, trace_id=answer.body["trace_id"])


def _run(accepted: Accepted, *, is_new: bool) -> Trace:
    """Return the trace when it has ended, or as it is if the caller can't wait for it."""
    if not is_new:
        return run_now(accepted=accepted, wait_seconds=0)
    with permit_to_wait() as is_permitted:
        return run_now(accepted=accepted, wait_seconds=settings.SYNC_WAIT_SECONDS if is_permitted else 0)


def _accept(submitted: Submission, body: TurnsBody) -> ReplayableAnswer:
    try:
        accepted = accept(submission=submitted)
    except KeyRefused as refused:
        raise AuthenticationFailed(REFUSED) from refused
    answer = TurnsAcceptedResponse(
        trace_id=show(Prefix.TRACE, accepted.trace_id),
        status=accepted.status,
        adjusted=adjustments(body, submitted),
        redacted=dict(accepted.redacted),
    )
    return replayable_answer(answer, status=202)


def _outcome(answer: ReplayableAnswer, submitted: Submission) -> ReplayableAnswer:
    """Wait for the trace and return its outcome; a replay doesn't wait."""
    accepted = Accepted(
        trace_id=parse(Prefix.TRACE, answer.body["trace_id"]),
        status=TraceStatus(answer.body["status"]),
        end_user_id=end_user_id(project_id=submitted.project_id, user_id=submitted.user_id),
    )
    adjusted, redacted = answer.body["adjusted"], answer.body.get("redacted", {})
    trace = _run(accepted, is_new=not answer.replayed)
    status = TraceStatus(trace.status)
    if status is not TraceStatus.QUEUED:
        ended = turns_response(
            trace_id=trace.shown_id,
            status=status,
            counts=trace.counts,
            outcomes=trace.outcomes,
            error=trace.error,
            adjusted=adjusted,
            redacted=redacted,
        )
        done = replayable_answer(ended)
        return ReplayableAnswer(status=done.status, body=done.body, replayed=answer.replayed)
    if answer.replayed:
        raise IdempotencyInProgress(f"trace {trace.shown_id} is still {status}")
    waiting = TurnsAcceptedResponse(trace_id=trace.shown_id, status=status, adjusted=adjusted, redacted=redacted)
    return replayable_answer(waiting, status=202)
