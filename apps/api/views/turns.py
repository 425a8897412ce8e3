"""View of POST /v1/turns."""

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from apps.api.authentication import REFUSED
from apps.api.openapi import documented
from apps.api.problems import Code
from apps.api.schemas.turns import (
    Mode,
    TurnsAcceptedResponse,
    TurnsBody,
    TurnsResponse,
    adjustments,
    submission,
    turns_response,
)
from apps.api.validation import read_body
from apps.api.views.base import ApiView, http_response, replayable_answer
from apps.intake.accept import Accepted, Submission, accept
from apps.intake.idempotency import IdempotencyInProgress
from apps.intake.idempotency import ReplayableAnswer as ReplayableAnswer
from apps.intake.intake_precondition import KeyRefused
from apps.pipeline.core.enums import TraceStatus
from apps.pipeline.core.identifiers import Prefix, end_user_id, parse, show
from apps.traces.models import Trace
from apps.worker.run_now import run_now
from apps.worker.waiting_callers import permit_to_wait

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
