"""View of POST /v1/turns."""

from collections.abc import Sequence
from dataclasses import dataclass
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
from apps.api.base import ApiView, http_response, replayable_answer
from apps.api.operations import operation
from apps.api.problems import Code
from apps.api.schemas import (
    CONTENT_CHARACTERS,
    AdjustmentResponse,
    AgentScopeBody,
    Identifier,
    Label,
    Metadata,
    Moment,
    RequestBody,
    ResponseBody,
    SkippedResponse,
    Topic,
    adjusted_text,
    adjusted_time,
    checked_metadata,
    checked_scope,
)
from apps.intake.accept import Accepted, KeyRefused, Submission, accept
from apps.intake.idempotency import IdempotencyInProgress, ReplayableAnswer
from apps.pipeline.core.chat_messages import ROLE_NAMES, message_role, message_text
from apps.pipeline.core.enums import Outcome, Role, Stage, TraceStatus
from apps.pipeline.core.identifiers import Prefix, end_user_id, parse, show
from apps.pipeline.core.input_validation import BadInput, checked_name, checked_said_at, cleaned_text, offset_of
from apps.pipeline.core.turn import NewTurn
from apps.traces.models import Trace
from apps.worker.run_now import permit_to_wait, run_now

MAX_TURNS = 100

OCCURRED_AT = (
    "RFC 3339 time at which the turn was said, with the UTC offset of the speaker: relative times such as yesterday "
    "are resolved from that local day. Without an offset, UTC. Without a time, relative times are not resolved."
)
OccurredAt = Annotated[Moment, Meta(description=OCCURRED_AT)]
# Roles and contents are checked one by one: a message that can't be taken is skipped, and the others are taken.
RoleName = Annotated[str, Meta(extra_json_schema={"enum": list(ROLE_NAMES)})]
Content = Annotated[
    Any,
    Meta(
        description="A text, or a list of parts, of which the texts are joined. A message without text is skipped.",
        extra_json_schema={
            "anyOf": [
                {"type": "string", "maxLength": CONTENT_CHARACTERS},
                {"type": "array", "items": {}},
                {"type": "null"},
            ]
        },
    ),
]
NotRead = Annotated[Any, Meta(description="A field of chat APIs, which is not read.")]
NO_TEXT = "holds no text; images, files and tool calls are not read"


class Mode(StrEnum):
    """Whether the request waits for the outcome."""

    ASYNC = "async"
    SYNC = "sync"


class TurnBody(RequestBody):
    """One message of a conversation, also as chat APIs write it.

    `speaker` is the person who said it, where several people share the role; `name` is another name for this field.
    Of the roles, `developer` is taken as `system`, `function` as `tool`, `human` as `user`, `ai` and `model` as
    `assistant`.
    """

    role: RoleName
    content: Content = None
    speaker: Label | None = None
    occurred_at: OccurredAt | None = None
    turn_id: Identifier | None = None
    name: Label | None = None
    tool_calls: NotRead = None
    tool_call_id: NotRead = None
    function_call: NotRead = None
    refusal: NotRead = None
    annotations: NotRead = None
    audio: NotRead = None


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

    `adjusted` lists what was stored otherwise than it was sent, `skipped` the turns that were not taken, because they
    hold no text, more than a turn may hold, or have an unknown role. `redacted` counts the placeholders that stand in
    the turns in place of sensitive data, by kind: secret, card, iban, national_id, phone, email, custom.
    """

    trace_id: str
    status: TraceStatus
    adjusted: list[AdjustmentResponse]
    skipped: list[SkippedResponse]
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


@dataclass(frozen=True, slots=True)
class TakenTurns:
    """What is taken of a request, what was changed of it before, and the turns that were skipped."""

    submission: Submission
    adjusted: list[AdjustmentResponse]
    skipped: list[SkippedResponse]


def take_turns(body: TurnsBody, *, caller: Caller, now: datetime) -> TakenTurns:
    """Convert the body to a submission, its texts cleaned. Raises BadInput, TooLarge."""
    _check_unique_ids(body.turns)
    turns: list[NewTurn] = []
    adjusted: list[AdjustmentResponse | None] = []
    refusals: list[BadInput] = []
    for index, given in enumerate(body.turns):
        at = f"/turns/{index}"
        try:
            role, text = checked_role(given.role, at=at), checked_text(given.content, at=at)
        except BadInput as refusal:
            refusals.append(refusal)
            continue
        taken = _turn(given, role=role, text=text, at=at, now=now)
        turns.append(taken)
        adjusted.append(adjusted_text(message_text(given.content), text, at=f"{at}/content"))
        adjusted.append(adjusted_time(given.occurred_at, taken.occurred_at, at=f"{at}/occurred_at"))
    if not turns:
        raise refusals[0]
    submission = Submission(
        project_id=caller.project_id,
        api_key_id=caller.api_key_id,
        user_id=checked_name(body.user_id, at="/user_id"),
        session_id=checked_name(body.session_id, at="/session_id"),
        turns=tuple(turns),
        topic=checked_name(body.topic or "", at="/topic"),
        metadata=checked_metadata(body.metadata, at="/metadata"),
        agent_scope=checked_scope(body),
        is_awaited=body.mode is Mode.SYNC,
    )
    return TakenTurns(submission, [each for each in adjusted if each], skipped_for(refusals))


def skipped_for(refusals: Sequence[BadInput]) -> list[SkippedResponse]:
    """Return the messages that were skipped, by why each could not be taken."""
    return [SkippedResponse(pointer=each.at, message=str(each)) for each in refusals]


def checked_role(name: str, *, at: str) -> Role:
    """Return the role of a message. Raises BadInput."""
    role = message_role(name)
    if role is None:
        raise BadInput(f"is no known role; allowed: {', '.join(ROLE_NAMES)}", at=f"{at}/role")
    return role


def checked_text(content: Any, *, at: str) -> str:
    """Return the text of a message, cleaned. Raises BadInput, TooLarge if it can't be taken."""
    text = message_text(content)
    if not text:
        raise BadInput(NO_TEXT, at=f"{at}/content")
    return cleaned_text(text, at=f"{at}/content", most=CONTENT_CHARACTERS)


def _check_unique_ids(turns: Sequence[TurnBody]) -> None:
    seen: set[str] = set()
    for index, turn in enumerate(turns):
        if turn.turn_id in seen:
            raise BadInput("is used by two turns of this request", at=f"/turns/{index}/turn_id")
        if turn.turn_id:
            seen.add(turn.turn_id)


def _turn(given: TurnBody, *, role: Role, text: str, at: str, now: datetime) -> NewTurn:
    name = given.name or "" if role in (Role.USER, Role.ASSISTANT) else ""  # of a tool it is no person
    return NewTurn(
        role=role,
        content=text,
        speaker=checked_name(given.speaker or name, at=f"{at}/{'speaker' if given.speaker else 'name'}"),
        occurred_at=checked_said_at(given.occurred_at, at=f"{at}/occurred_at", now=now),
        external_id=checked_name(given.turn_id or "", at=f"{at}/turn_id"),
        utc_offset=offset_of(given.occurred_at),
    )


def turns_response(
    *,
    trace_id: str,
    status: TraceStatus,
    counts: dict[str, Any],
    outcomes: list[Any],
    error: str,
    adjusted: list[Any],
    skipped: list[Any],
    redacted: dict[str, int],
) -> TurnsResponse:
    """Return the response for a finished trace."""
    counted = ("turns", "candidates", "stored", "merged", "superseded", "retracted", "pending_review", "discarded")
    nothing = dict.fromkeys(counted, 0)
    known = {"rejected": {}, "memory_ids": [], **nothing, **counts}
    ended = {"trace_id": trace_id, "status": status, "outcomes": outcomes, "error": error}
    told = {"adjusted": adjusted, "skipped": skipped, "redacted": redacted}
    return msgspec.convert({**known, **ended, **told}, TurnsResponse)


_EXAMPLE = {
    "user_id": "ana",
    "session_id": "2026-03-02",
    "turns": [{"role": "user", "content": "I moved to Lisbon last month.", "occurred_at": "2026-03-02T09:12:00Z"}],
    "mode": "sync",
}


class TurnsView(ApiView):
    """Accepting turns."""

    action_checks_key = True

    @operation(
        "write_turns",
        summary="Send turns of a session",
        responses={200: TurnsResponse, 202: TurnsAcceptedResponse},
        problems=(Code.QUEUE_FULL, Code.QUOTA_EXCEEDED),
        example=_EXAMPLE,
        repeatable=True,
    )
    def post(self, request: Request, body: TurnsBody) -> HttpResponse:
        """Accept turns; they are stored durably before the response is sent.

        Mode `async` returns 202 with the trace. Mode `sync` waits and returns 200 with the outcome, or 202 if
        processing takes too long, the model does not answer or too many callers wait; processing then goes on in the
        background. An outcome with the status `dead` or `extraction_failed` has its reason in `error`. Control
        characters, invisible ones and those that reorder the displayed text are removed from `content`, and a time
        ahead of the server's clock becomes the present; `adjusted` lists such changes. A message without text, such as
        an image or a tool call, one that is too long and one of an unknown role are skipped; `skipped` lists them, and
        the others are taken. Secrets and other sensitive data are replaced by placeholders before anything is stored,
        as the project's policy says; `redacted` counts them.
        """
        taken = take_turns(body, caller=self.caller, now=timezone.now())
        answer = self.idempotent(lambda: _accept(taken))
        if body.mode is Mode.SYNC:
            answer = _outcome(answer, taken.submission)
        return http_response(answer, trace_id=answer.body["trace_id"])


def _run(accepted: Accepted, *, is_new: bool) -> Trace:
    """Return the trace when it has ended, or as it is if the caller can't wait for it."""
    if not is_new:
        return run_now(accepted=accepted, wait_seconds=0)
    with permit_to_wait() as is_permitted:
        return run_now(accepted=accepted, wait_seconds=settings.SYNC_WAIT_SECONDS if is_permitted else 0)


def _accept(taken: TakenTurns) -> ReplayableAnswer:
    try:
        accepted = accept(submission=taken.submission)
    except KeyRefused as refused:
        raise AuthenticationFailed(REFUSED) from refused
    answer = TurnsAcceptedResponse(
        trace_id=show(Prefix.TRACE, accepted.trace_id),
        status=accepted.status,
        adjusted=taken.adjusted,
        skipped=taken.skipped,
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
    told = {name: answer.body[name] for name in ("adjusted", "skipped", "redacted")}
    trace = _run(accepted, is_new=not answer.replayed)
    status = TraceStatus(trace.status)
    if status is not TraceStatus.QUEUED:
        ended = turns_response(
            trace_id=trace.shown_id,
            status=status,
            counts=trace.counts,
            outcomes=trace.outcomes,
            error=trace.error,
            **told,
        )
        done = replayable_answer(ended)
        return ReplayableAnswer(status=done.status, body=done.body, replayed=answer.replayed)
    if answer.replayed:
        raise IdempotencyInProgress(f"trace {trace.shown_id} is still {status}")
    waiting = TurnsAcceptedResponse(trace_id=trace.shown_id, status=status, **told)
    return replayable_answer(waiting, status=202)
