"""The endpoint POST /v1/turns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.exceptions import AuthenticationFailed, ValidationError
from rest_framework.request import Request

from apps.api.authentication import REFUSED, Caller
from apps.api.base import http_response
from apps.api.problems import Code
from apps.api.serializers import (
    CONTENT_CHARACTERS,
    OPTIONAL,
    AdjustmentSerializer,
    AgentScopeSerializer,
    ApiSerializer,
    EnumField,
    MetadataField,
    NameField,
    SkippedSerializer,
    adjusted_text,
    adjusted_time,
    agent_scope_of,
)
from apps.api.viewsets import ApiViewSet, operation
from apps.intake.accept import Accepted, KeyRefused, Submission, accept
from apps.intake.idempotency import IdempotencyInProgress, ReplayableAnswer
from apps.pipeline.core.chat_messages import ROLE_NAMES, message_role, message_text
from apps.pipeline.core.enums import Outcome, Role, Stage, TraceStatus
from apps.pipeline.core.identifiers import Prefix, end_user_id, parse, show
from apps.pipeline.core.input_validation import BadInput, checked_said_at, cleaned_text, offset_of
from apps.pipeline.core.turn import NewTurn
from apps.worker.run_now import permit_to_wait, run_now

MAX_TURNS = 100
NO_TEXT = "holds no text; images, files and tool calls are not read"


class Mode(StrEnum):
    """Whether the request waits for the outcome."""

    ASYNC = "async"
    SYNC = "sync"


@extend_schema_field({"type": "string", "enum": list(ROLE_NAMES)})
class RoleField(serializers.CharField):
    """A role, which is checked by message: one that is not known is skipped, and the others are taken."""


@extend_schema_field(
    {"anyOf": [{"type": "string", "maxLength": CONTENT_CHARACTERS}, {"type": "array", "items": {}}, {"type": "null"}]}
)
class ContentField(serializers.JSONField):
    """A text, or a list of parts, of which the texts are joined. It is checked by message, as roles are."""


class OccurredAtField(serializers.DateTimeField):
    """A time with the offset of the speaker, in which relative times are resolved; without an offset it is in UTC."""

    def enforce_timezone(self, value: datetime) -> datetime:
        """Return the time with the offset in which it was sent."""
        return value


@extend_schema_field({})
class NotReadField(serializers.JSONField):
    """A field of chat APIs, which is not read."""

    def __init__(self) -> None:
        super().__init__(
            default=None, allow_null=True, write_only=True, help_text="A field of chat APIs, which is not read."
        )


class TurnSerializer(ApiSerializer):
    """One message of a conversation, also as chat APIs write it.

    `speaker` is the person who said it, where several people share the role; `name` is another name for this field.
    Of the roles, `developer` is taken as `system`, `function` as `tool`, `human` as `user`, `ai` and `model` as
    `assistant`.
    """

    role = RoleField(allow_blank=True)
    content = ContentField(default=None, allow_null=True)
    speaker = NameField(max_length=120, allow_blank=True, **OPTIONAL)
    occurred_at = OccurredAtField(**OPTIONAL)
    turn_id = NameField(**OPTIONAL)
    name = NameField(max_length=120, allow_blank=True, **OPTIONAL)
    tool_calls = NotReadField()
    tool_call_id = NotReadField()
    function_call = NotReadField()
    refusal = NotReadField()
    annotations = NotReadField()
    audio = NotReadField()


class TurnsSerializer(AgentScopeSerializer):
    """Turns of one session, in order."""

    user_id = NameField()
    session_id = NameField()
    turns = serializers.ListField(child=TurnSerializer(), min_length=1, max_length=MAX_TURNS)
    mode = EnumField(Mode, default=Mode.ASYNC)
    topic = NameField(max_length=64, allow_blank=True, **OPTIONAL)
    metadata = MetadataField(**OPTIONAL)

    def validate_turns(self, turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the turns. Raises ValidationError if two have the same identifier."""
        seen: set[str] = set()
        for index, turn in enumerate(turns):
            if turn["turn_id"] in seen:
                raise ValidationError({str(index): {"turn_id": ["is used by two turns of this request"]}})
            if turn["turn_id"]:
                seen.add(turn["turn_id"])
        return turns


class TurnsAcceptedSerializer(ApiSerializer):
    """The turns are stored and will be processed; read the trace for the outcome.

    `adjusted` lists what was stored otherwise than it was sent, `skipped` the turns that were not taken, because they
    hold no text, more than a turn may hold, or have an unknown role. `redacted` counts the placeholders that stand in
    the turns in place of sensitive data, by kind: secret, card, iban, national_id, phone, email, custom.
    """

    trace_id = serializers.CharField()
    status = EnumField(TraceStatus)
    adjusted = AdjustmentSerializer(many=True)
    skipped = SkippedSerializer(many=True)
    redacted = serializers.DictField(child=serializers.IntegerField())


class OutcomeSerializer(ApiSerializer):
    """The outcome of one candidate, of a turn without any, or of a known memory that the user asked to forget.

    `detail` is the model's explanation of a discard. `forget_all_requested` tells that the user asked to forget
    everything: nothing was changed, and a person or the caller has to decide.
    """

    turn = serializers.CharField(allow_null=True)
    candidate = serializers.IntegerField(allow_null=True)
    content = serializers.CharField(allow_null=True)
    outcome = EnumField(Outcome)
    stage = EnumField(Stage)
    reason = serializers.CharField()
    memory_id = serializers.CharField(allow_null=True)
    detail = serializers.CharField(default="")


COUNTED = ("turns", "candidates", "stored", "merged", "superseded", "retracted", "pending_review", "discarded")


@extend_schema_serializer(component_name="TurnsResponse")
class TurnsResultSerializer(TurnsAcceptedSerializer):
    """The outcome of the turns. With status `dead` or `extraction_failed` nothing was stored; `error` says why."""

    turns = serializers.IntegerField()
    rejected = serializers.DictField(child=serializers.IntegerField())
    candidates = serializers.IntegerField()
    stored = serializers.IntegerField()
    merged = serializers.IntegerField()
    superseded = serializers.IntegerField()
    retracted = serializers.IntegerField()
    pending_review = serializers.IntegerField()
    discarded = serializers.IntegerField()
    memory_ids = serializers.ListField(child=serializers.CharField())
    outcomes = OutcomeSerializer(many=True)
    error = serializers.CharField(default="")


@dataclass(frozen=True, slots=True)
class TakenTurns:
    """What is taken of a request, what was changed of it before, and the turns that were skipped."""

    submission: Submission
    adjusted: list[dict[str, str]]
    skipped: list[dict[str, str]]


def take_turns(body: Mapping[str, Any], *, caller: Caller, now: datetime) -> TakenTurns:
    """Convert the validated body to a submission, its texts cleaned. Raises BadInput, TooLarge."""
    turns: list[NewTurn] = []
    adjusted: list[dict[str, str] | None] = []
    refusals: list[BadInput] = []
    for index, given in enumerate(body["turns"]):
        at = f"/turns/{index}"
        try:
            role, text = checked_role(given["role"], at=at), checked_text(given["content"], at=at)
        except BadInput as refusal:
            refusals.append(refusal)
            continue
        name = given["name"] or "" if role in (Role.USER, Role.ASSISTANT) else ""  # of a tool it is no person
        taken = NewTurn(
            role=role,
            content=text,
            speaker=given["speaker"] or name,
            occurred_at=checked_said_at(given["occurred_at"], at=f"{at}/occurred_at", now=now),
            external_id=given["turn_id"] or "",
            utc_offset=offset_of(given["occurred_at"]),
        )
        turns.append(taken)
        adjusted.append(adjusted_text(message_text(given["content"]), text, at=f"{at}/content"))
        adjusted.append(adjusted_time(given["occurred_at"], taken.occurred_at, at=f"{at}/occurred_at"))
    if not turns:
        raise refusals[0]
    submission = Submission(
        project_id=caller.project_id,
        api_key_id=caller.api_key_id,
        user_id=body["user_id"],
        session_id=body["session_id"],
        turns=tuple(turns),
        topic=body["topic"] or "",
        metadata=body["metadata"] or {},
        agent_scope=agent_scope_of(body),
        is_awaited=body["mode"] is Mode.SYNC,
    )
    return TakenTurns(submission, [each for each in adjusted if each], skipped_for(refusals))


def skipped_for(refusals: Sequence[BadInput]) -> list[dict[str, str]]:
    """Return the messages that were skipped, by why each could not be taken."""
    return [{"pointer": each.at, "message": str(each)} for each in refusals]


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


class TurnsViewSet(ApiViewSet):
    """Accepting turns."""

    action_checks_key = True

    @operation(
        "write_turns",
        summary="Send turns of a session",
        body=TurnsSerializer,
        answers={200: TurnsResultSerializer, 202: TurnsAcceptedSerializer},
        problems=(Code.QUEUE_FULL, Code.QUOTA_EXCEEDED),
        example={
            "user_id": "ana",
            "session_id": "2026-03-02",
            "turns": [
                {"role": "user", "content": "I moved to Lisbon last month.", "occurred_at": "2026-03-02T09:12:00Z"}
            ],
            "mode": "sync",
        },
        is_repeatable=True,
        stores_answer=False,
    )
    def create(self, request: Request) -> HttpResponse:
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
        body = self.valid(TurnsSerializer)
        taken = take_turns(body, caller=self.caller, now=timezone.now())
        answer = self.idempotent(lambda: _accept(taken))
        if body["mode"] is Mode.SYNC:
            answer = _outcome(answer, taken.submission)
        return http_response(answer, trace_id=answer.body["trace_id"])


def _accept(taken: TakenTurns) -> ReplayableAnswer:
    try:
        accepted = accept(submission=taken.submission)
    except KeyRefused as refused:
        raise AuthenticationFailed(REFUSED) from refused
    answer = {
        "trace_id": show(Prefix.TRACE, accepted.trace_id),
        "status": accepted.status,
        "adjusted": taken.adjusted,
        "skipped": taken.skipped,
        "redacted": accepted.redacted,
    }
    return ReplayableAnswer(status=202, body=TurnsAcceptedSerializer(answer).data)


def _outcome(answer: ReplayableAnswer, submitted: Submission) -> ReplayableAnswer:
    """Wait for the trace and return its outcome; a replay doesn't wait."""
    accepted = Accepted(
        trace_id=parse(Prefix.TRACE, answer.body["trace_id"]),
        status=TraceStatus(answer.body["status"]),
        end_user_id=end_user_id(project_id=submitted.project_id, user_id=submitted.user_id),
    )
    if answer.replayed:
        trace = run_now(accepted=accepted, wait_seconds=0)
    else:
        with permit_to_wait() as is_permitted:  # without it, the trace is returned as it is
            trace = run_now(accepted=accepted, wait_seconds=settings.SYNC_WAIT_SECONDS if is_permitted else 0)
    if trace.status != TraceStatus.QUEUED:
        counts = {**dict.fromkeys(COUNTED, 0), "rejected": {}, "memory_ids": [], **trace.counts}
        ended = {"status": trace.status, "outcomes": trace.outcomes, "error": trace.error}
        body = TurnsResultSerializer({**counts, **answer.body, **ended}).data
        return ReplayableAnswer(status=200, body=body, replayed=answer.replayed)
    if answer.replayed:
        raise IdempotencyInProgress(f"trace {trace.shown_id} is still {trace.status}")
    return ReplayableAnswer(status=202, body={**answer.body, "status": trace.status})
