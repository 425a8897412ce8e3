"""A model that answers as it did when the traces ran; what was never asked goes to a live model, or is a miss."""

from collections.abc import Iterable
from uuid import UUID

from apps.pipeline.core.model_calls import (
    AnswerKind,
    FailureKind,
    ModelAnswer,
    ModelCallRecord,
    ModelFailed,
    ModelRequest,
    StopReason,
    Usage,
)
from apps.pipeline.core.ports import Model
from apps.providers.entries import reliability_of
from apps.traces.models import ModelCall

_STOPS = {AnswerKind.TRUNCATED: StopReason.TRUNCATED, AnswerKind.REFUSED: StopReason.REFUSED}


class ReplayMiss(Exception):
    """A prompt has no recorded answer, and no live call was allowed; or the run can't be asked about again."""


class RecordedAnswers:
    """The recorded answers of one end user, by what was asked."""

    def __init__(self, *, end_user_id: UUID, live: Model | None) -> None:
        self._end_user_id, self._live = end_user_id, live
        self._calls: dict[str, ModelCall] = {}

    def learn(self, calls: Iterable[ModelCall]) -> None:
        """Take the answers of traces that are replayed next, in place of those of former ones.

        Of several calls of one prompt an answered one counts.
        """
        self._calls = {}
        for call in calls:
            known = self._calls.get(call.request_hash)
            if known is None or not _is_answered(known):
                self._calls[call.request_hash] = call

    def complete(self, request: ModelRequest) -> ModelAnswer:
        """Answer a request. Raises ModelFailed where the recorded call failed, ReplayMiss."""
        call = self._calls.get(request.hash) or self._find(request.hash)
        if call is not None:
            return _answer(call, request)
        if self._live is None:
            raise ReplayMiss(f"the prompt of {request.purpose} ({request.prompt_version}) was never asked before")
        return self._live.complete(request)

    def _find(self, request_hash: str) -> ModelCall | None:
        """Look among all calls of the end user: another trace may have asked the same."""
        calls = ModelCall.objects.filter(end_user_id=self._end_user_id, request_hash=request_hash)
        return calls.order_by("error", "created_at").first()


def _is_answered(call: ModelCall) -> bool:
    return not call.error or bool(call.answer_kind)


def _answer(call: ModelCall, request: ModelRequest) -> ModelAnswer:
    if not _is_answered(call):
        raise ModelFailed(call.error, kind=FailureKind.UNUSABLE, model=call.model, latency_us=call.latency_us)
    kind = AnswerKind(call.answer_kind) if call.answer_kind else None
    return ModelAnswer(
        text=call.answer,
        model=call.model,
        usage=Usage(call.input_tokens, call.cache_read_tokens, call.cache_write_tokens, call.output_tokens),
        stop=_STOPS.get(kind, StopReason.END) if kind else StopReason.END,
        latency_us=call.latency_us,
        cost_usd=call.cost_usd,
        reliability=reliability_of(request.model),
    )


def tokens_of(calls: Iterable[ModelCall | ModelCallRecord]) -> int:
    """Return the tokens of calls, of prompts and answers together."""
    tokens = 0
    for call in calls:
        if isinstance(call, ModelCallRecord):
            usage = call.usage
            tokens += usage.input + usage.cache_read + usage.cache_write + usage.output
        else:
            tokens += call.input_tokens + call.cache_read_tokens + call.cache_write_tokens + call.output_tokens
    return tokens
