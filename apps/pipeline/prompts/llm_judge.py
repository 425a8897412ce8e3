"""Judging: one call for the questions that rules leave open, with its record."""

from dataclasses import dataclass
from enum import StrEnum

from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import ExtractorKind, OnModelFailure
from apps.pipeline.core.model_calls import (
    AnswerKind,
    FailureKind,
    ModelCallRecord,
    ModelFailed,
    ModelRequest,
    StopReason,
    call_of,
    failed_call,
)
from apps.pipeline.core.ports import Model, Ports
from apps.pipeline.prompts.judge_questions import UNSURE, verdicts_in


@dataclass(frozen=True, slots=True)
class AskedJudge:
    """A model that may be asked about a draft, and what becomes of the run where it does not answer."""

    model: Model
    is_awaited: bool = False  # the run is put back; otherwise its cases stay open
    calls: tuple[ModelCallRecord, ...] = ()  # that the run has made before


def judge_of(draft: Draft, ports: Ports) -> AskedJudge | None:
    """Return the judge of a draft; a project that extracts without a model asks none."""
    policy = draft.policy.extraction
    model = None if policy.extractor is ExtractorKind.PLAIN else ports.model_for(draft.policy)
    if model is None:
        return None
    is_awaited = ports.waits_for_judge and policy.on_model_failure is not OnModelFailure.PLAIN
    return AskedJudge(model, is_awaited=is_awaited, calls=draft.model_calls)


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """A verdict for each question, in their order, and the call that brought them."""

    verdicts: tuple[str, ...]
    call: ModelCallRecord


def ask_judge(
    request: ModelRequest, *, count: int, judge: AskedJudge, words: type[StrEnum] | None = None
) -> JudgeResult:
    """Ask a judge; where it fails or answers something else, every verdict is UNSURE and the call tells why.

    Raises ModelFailed, with all calls of the run, where a judge that is awaited is unavailable.
    """
    unsure = (UNSURE,) * count
    try:
        answer = judge.model.complete(request)
    except ModelFailed as failure:
        call = failed_call(request, failure)
        if judge.is_awaited and failure.kind is FailureKind.UNAVAILABLE:
            failure.calls = (*judge.calls, call) if failure.is_recorded else judge.calls
            raise
        return JudgeResult(unsure, call)
    verdicts = verdicts_in(answer, count=count, words=words)
    if verdicts is None:
        kind = AnswerKind.REFUSED if answer.stop is StopReason.REFUSED else AnswerKind.UNPARSABLE
        return JudgeResult(unsure, call_of(request, answer, kind=kind))
    return JudgeResult(tuple(verdicts), call_of(request, answer))
