"""Shapes of POST /v1/turns."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from apps.api.authentication import Caller
from apps.api.schemas.common import (
    CONTENT_CHARACTERS,
    Answer,
    Body,
    Identifier,
    Label,
    Metadata,
    Topic,
    checked_metadata,
)
from apps.intake.accept import Submission
from apps.pipeline.core.enums import Outcome, Role, Stage, TraceStatus
from apps.pipeline.core.input_validation import BadInput, checked_name, checked_said_at, cleaned_text, offset_of
from apps.pipeline.core.turn import NewTurn

MAX_TURNS = 100

OCCURRED_AT = (
    'RFC 3339 time at which it was said, in the offset of whoever said it: "yesterday" and "last Saturday" count '
    "from that local day. UTC without an offset; without a time, relative times are left as they were said."
)
OccurredAt = Annotated[datetime, Meta(description=OCCURRED_AT)]
# The length is checked by hand, for too much text is another error (too_large) than a wrong value.
Content = Annotated[str, Meta(min_length=1, extra_json_schema={"maxLength": CONTENT_CHARACTERS})]


class Mode(StrEnum):
    """Whether the caller waits for the outcome."""

    ASYNC = "async"
    SYNC = "sync"


class TurnBody(Body):
    """One message, as it was said."""

    role: Role
    content: Content
    speaker: Label | None = None
    occurred_at: OccurredAt | None = None
    turn_id: Identifier | None = None


class TurnsBody(Body):
    """Turns of one session, in their order."""

    user_id: Identifier
    session_id: Identifier
    turns: Annotated[tuple[TurnBody, ...], Meta(min_length=1, max_length=MAX_TURNS)]
    mode: Mode = Mode.ASYNC
    topic: Topic | None = None
    metadata: Metadata | None = None


class TraceAccepted(Answer):
    """The turns are safe; the trace tells later what became of them."""

    trace_id: str
    status: TraceStatus


class OutcomeAnswer(Answer):
    """What became of one candidate, or of a turn that yielded none; `detail` is a model's own words on a discard."""

    turn: str | None
    candidate: int | None
    content: str | None
    outcome: Outcome
    stage: Stage
    reason: str
    memory_id: str | None
    detail: str = ""


class TurnsAnswer(TraceAccepted):
    """What became of the turns."""

    turns: int
    rejected: dict[str, int]
    candidates: int
    stored: int
    merged: int
    superseded: int
    pending_review: int
    discarded: int
    memory_ids: list[str]
    outcomes: list[OutcomeAnswer]


def submission(body: TurnsBody, *, caller: Caller, now: datetime) -> Submission:
    """Return what the caller submits, its texts clean. Raises BadInput, TooLarge."""
    _check_distinct(body.turns)
    return Submission(
        project_id=caller.project_id,
        api_key_id=caller.api_key_id,
        user_id=checked_name(body.user_id, at="/user_id"),
        session_id=checked_name(body.session_id, at="/session_id"),
        turns=tuple(_turn(turn, at=f"/turns/{index}", now=now) for index, turn in enumerate(body.turns)),
        topic=checked_name(body.topic or "", at="/topic"),
        metadata=checked_metadata(body.metadata, at="/metadata"),
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


def _check_distinct(turns: tuple[TurnBody, ...]) -> None:
    seen: set[str] = set()
    for index, turn in enumerate(turns):
        if turn.turn_id in seen:
            raise BadInput("names two turns of this request", at=f"/turns/{index}/turn_id")
        if turn.turn_id:
            seen.add(turn.turn_id)


def turns_answer(*, trace_id: str, status: TraceStatus, counts: dict[str, Any], outcomes: list[Any]) -> TurnsAnswer:
    """Return the answer of a trace that has ended."""
    nothing = dict.fromkeys(("turns", "candidates", "stored", "merged", "superseded", "pending_review", "discarded"), 0)
    known = {"rejected": {}, "memory_ids": [], **nothing, **counts}
    return msgspec.convert({"trace_id": trace_id, "status": status, **known, "outcomes": outcomes}, TurnsAnswer)
