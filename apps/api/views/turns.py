"""POST /v1/turns."""

from django.conf import settings
from django.db import transaction
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from apps.api.authentication import REFUSED
from apps.api.openapi import documented
from apps.api.problems import Code
from apps.api.reading import read_body
from apps.api.schemas.turns import Mode, TraceAccepted, TurnsAnswer, TurnsBody, submission, turns_answer
from apps.api.views.base import ApiView, kept, response
from apps.intake.accept import Accepted, Submission, accept
from apps.intake.idempotency import IdempotencyInProgress
from apps.intake.idempotency import ReplayableAnswer as KeptAnswer
from apps.intake.intake_precondition import KeyRefused
from apps.outbox.wake_workers import wake_workers
from apps.pipeline.core.enums import TraceStatus
from apps.pipeline.core.identifiers import Prefix, end_user_id, parse, show
from apps.worker.run_now import run_now

_EXAMPLE = {
    "user_id": "ana",
    "session_id": "2026-03-02",
    "turns": [{"role": "user", "content": "I moved to Lisbon last month.", "occurred_at": "2026-03-02T09:12:00Z"}],
    "mode": "sync",
}


class TurnsView(ApiView):
    """Turns in."""

    asks_if_key_holds = True

    @documented(
        operation="write_turns",
        summary="Send turns of a session",
        body=TurnsBody,
        answers={200: TurnsAnswer, 202: TraceAccepted},
        problems=(Code.QUEUE_FULL,),
        example=_EXAMPLE,
        repeatable=True,
    )
    def post(self, request: Request) -> HttpResponse:
        """Accept turns: they are safe once this answers.

        `async` answers 202 with the trace; `sync` waits and answers 200 with what became of the turns, or 202 when
        that takes too long. Control characters that carry no words, and characters that reorder what people see,
        are taken out of `content`.
        """
        body = read_body(request, TurnsBody)
        asked = submission(body, caller=self.caller, now=timezone.now())
        answer = self.once(lambda: _accept(asked, body.mode))
        if body.mode is Mode.SYNC:
            answer = _outcome(answer, asked)
        return response(answer, trace_id=answer.body["trace_id"])


def _accept(asked: Submission, mode: Mode) -> KeptAnswer:
    try:
        accepted = accept(submission=asked)
    except KeyRefused as refused:
        raise AuthenticationFailed(REFUSED) from refused
    if mode is Mode.ASYNC and accepted.status is TraceStatus.QUEUED:
        transaction.on_commit(wake_workers, robust=True)
    return kept(TraceAccepted(trace_id=show(Prefix.TRACE, accepted.trace_id), status=accepted.status), status=202)


def _outcome(answer: KeptAnswer, asked: Submission) -> KeptAnswer:
    """Wait for the trace and answer what became of it; a repetition doesn't wait."""
    accepted = Accepted(
        trace_id=parse(Prefix.TRACE, answer.body["trace_id"]),
        status=TraceStatus(answer.body["status"]),
        end_user_id=end_user_id(project_id=asked.project_id, user_id=asked.user_id),
    )
    trace = run_now(accepted=accepted, wait_seconds=0 if answer.replayed else settings.SYNC_WAIT_SECONDS)
    status = TraceStatus(trace.status)
    if status is not TraceStatus.QUEUED:
        ended = turns_answer(trace_id=trace.shown_id, status=status, counts=trace.counts, outcomes=trace.outcomes)
        done = kept(ended)
        return KeptAnswer(status=done.status, body=done.body, replayed=answer.replayed)
    if answer.replayed:
        raise IdempotencyInProgress(f"trace {trace.shown_id} is still {status}")
    return kept(TraceAccepted(trace_id=trace.shown_id, status=status), status=202)
