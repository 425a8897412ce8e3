"""Requests to a language model, their answers, and the record of a call in a trace."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from time import perf_counter_ns
from typing import Any, TypeVar

from pydantic import BaseModel

Form = TypeVar("Form", bound=BaseModel)

CUT_OFF = "the answer was cut off"


class Purpose(StrEnum):
    """The purpose of a model call."""

    EXTRACT = "extract"
    EXTRACT_SESSION = "extract_session"
    JUDGE_REFERENCES = "judge_references"
    JUDGE_PAIRS = "judge_pairs"
    INDEX_QUESTIONS = "index_questions"
    TEST = "test"  # made by a person, to see whether the model answers


class AnswerKind(StrEnum):
    """The kind of an answer; kinds are counted separately."""

    MEMORIES = "memories"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    UNPARSABLE = "unparsable"
    REFUSED = "refused"

    @property
    def is_usable(self) -> bool:
        """Return True if the answer has the form that was asked for."""
        return self not in (AnswerKind.UNPARSABLE, AnswerKind.REFUSED)


class StopReason(StrEnum):
    """Why an answer ended."""

    END = "end"
    TRUNCATED = "truncated"  # the answer reached the maximum number of tokens
    REFUSED = "refused"


class FailureKind(StrEnum):
    """Why a model gave no answer, which tells whether other requests are worth a try."""

    # No request is answered now: lost connection, time-out, overload, key, address, or something else than an answer.
    UNAVAILABLE = "unavailable"
    REFUSED = "refused"  # the server accepts requests, but not this one


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call; the three kinds of input don't overlap."""

    input: int = 0  # neither read from the cache nor written to it
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0

    @property
    def all_input(self) -> int:
        """Return how many tokens of input a call has been billed for, cached or not."""
        return self.input + self.cache_read + self.cache_write


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request to a model; `static` comes first and is the same for all calls, so that providers can cache it.

    `schema` must be a constant of its module: what is sent of it is made once and kept for as long as the process runs.
    """

    purpose: Purpose
    prompt_version: str
    static: str
    context: str  # what is known about the end user
    turns: str
    schema: Mapping[str, Any] = field(hash=False)  # JSON schema of the answer
    max_tokens: int = 4_096
    model: str = ""  # "provider:name" or the name of a configured entry; empty is the configured model
    temperature: float | None = 0.0  # None leaves it to the server

    @property
    def hash(self) -> str:
        """Return the key of a recorded answer: 64 hexadecimal characters."""
        said = "\x1f".join((self.model, self.prompt_version, self.static, self.context, self.turns))
        return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()


def unusable(kind: "AnswerKind") -> str:
    """Return why a run failed whose answers were of a kind that can't be used."""
    return f"the answer was {kind}"


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The answer of a model, with its cost."""

    text: str
    model: str
    usage: Usage = Usage()
    stop: StopReason = StopReason.END
    latency_us: int = 0
    cost_usd: Decimal = Decimal(0)
    reliability: float | None = None  # of the entry that answered; None is the policy's
    is_prompt_cut: bool = False  # the server has read less than it was sent
    max_tokens: int = 0  # with which it was asked for; 0: as the request says

    def read(self, form: type[Form]) -> Form | None:
        """Return the first JSON object of the text; None where none has the form. Nothing in the text can raise."""
        try:
            return form.model_validate(json.JSONDecoder().raw_decode(self.text, self.text.index("{"))[0])
        except (ValueError, RecursionError):
            return None


@dataclass(frozen=True, slots=True)
class ModelCallRecord:
    """The record of a call in a trace; `error` is empty if the answer could be used.

    `kind` is empty for a call that was not answered, and for a usable answer of a judge or to a request for questions.
    """

    purpose: Purpose
    request_hash: str
    model: str
    prompt_version: str
    answer: str = ""
    usage: Usage = Usage()
    latency_us: int = 0
    cost_usd: Decimal = Decimal(0)
    error: str = ""
    kind: AnswerKind | None = None
    invalid_objects: int = 0  # objects in the answer that are not memories, or have unknown ids
    is_prompt_cut: bool = False


class ModelFailed(Exception):
    """A model did not answer. A permanent failure is not worth another try.

    `retry_after_seconds` is the wait that the server asked for, or None. A failure with `is_recorded` False leaves no
    record in the trace: no request was sent, or only a probe whether the model answers again.
    """

    def __init__(
        self,
        message: str,
        *,
        permanent: bool = False,
        kind: FailureKind = FailureKind.UNAVAILABLE,
        retry_after_seconds: float | None = None,
        is_timeout: bool = False,
        is_recorded: bool = True,
        model: str = "",
        latency_us: int = 0,
    ) -> None:
        super().__init__(message)
        self.permanent = permanent
        self.is_timeout = is_timeout
        self.is_recorded = is_recorded
        self.kind = kind
        self.retry_after_seconds = retry_after_seconds
        self.model = model
        self.latency_us = latency_us
        self.calls: tuple[ModelCallRecord, ...] = ()


def call_of(request: ModelRequest, answer: ModelAnswer, *, kind: AnswerKind | None = None) -> ModelCallRecord:
    """Record a call that was answered; an unusable answer is recorded as its error."""
    error = ""
    if kind is not None and not kind.is_usable:
        is_cut = kind is AnswerKind.UNPARSABLE and answer.stop is StopReason.TRUNCATED
        error = cut_off(request, answer) if is_cut else kind.value
    return ModelCallRecord(
        purpose=request.purpose,
        request_hash=request.hash,
        model=answer.model,
        prompt_version=request.prompt_version,
        answer=answer.text,
        usage=answer.usage,
        latency_us=answer.latency_us,
        cost_usd=answer.cost_usd,
        error=error,
        kind=kind,
        is_prompt_cut=answer.is_prompt_cut,
    )


def used_tokens(request: ModelRequest, answer: ModelAnswer) -> int:
    """Return how many tokens an answer that was cut off has used up; some servers don't count those of reasoning."""
    return max(answer.usage.output, answer.max_tokens or request.max_tokens)


def cut_off(request: ModelRequest, answer: ModelAnswer) -> str:
    """Return what is wrong with an answer of which nothing can be used because it was cut off."""
    told = f"{CUT_OFF} at {used_tokens(request, answer)} tokens"
    return told if answer.text else f"{told}, before its first word: the model used them up for reasoning"


def microseconds_since(started: int) -> int:
    """Return the time since a reading of `perf_counter_ns`."""
    return (perf_counter_ns() - started) // 1_000


def failed_call(request: ModelRequest, failure: ModelFailed) -> ModelCallRecord:
    """Record a call that was not answered."""
    return ModelCallRecord(
        purpose=request.purpose,
        request_hash=request.hash,
        model=failure.model or request.model,
        prompt_version=request.prompt_version,
        latency_us=failure.latency_us,
        error=str(failure),
    )
