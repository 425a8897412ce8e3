"""Judging: one call for the questions that rules leave open, its record, and nothing raised when there is no answer."""

from dataclasses import dataclass
from enum import StrEnum

from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import ExtractorKind
from apps.pipeline.core.model_calls import (
    AnswerKind,
    ModelCallRecord,
    ModelFailed,
    ModelRequest,
    StopReason,
    call_of,
    failed_call,
)
from apps.pipeline.core.ports import Model, Ports
from apps.pipeline.prompts.judge_questions import UNSURE, verdicts_in


def judge_of(draft: Draft, ports: Ports) -> Model | None:
    """Return the model that may be asked about a draft; a project that extracts by patterns asks none."""
    by_patterns = draft.policy.extraction.extractor is ExtractorKind.PATTERNS
    return None if by_patterns else ports.model_for(draft.policy)


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """A verdict for each question, in their order, and the call that brought them."""

    verdicts: tuple[str, ...]
    call: ModelCallRecord


def ask_judge(request: ModelRequest, *, count: int, model: Model, words: type[StrEnum] | None = None) -> JudgeResult:
    """Ask a judge; where it fails or answers something else, every verdict is UNSURE and the call tells why."""
    unsure = (UNSURE,) * count
    try:
        answer = model.complete(request)
    except ModelFailed as failure:
        return JudgeResult(unsure, failed_call(request, failure))
    verdicts = verdicts_in(answer, count=count, words=words)
    if verdicts is None:
        kind = AnswerKind.REFUSED if answer.stop is StopReason.REFUSED else AnswerKind.UNPARSABLE
        return JudgeResult(unsure, call_of(request, answer, kind=kind))
    return JudgeResult(tuple(verdicts), call_of(request, answer))
