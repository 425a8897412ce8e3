"""Answers that were recorded: what a replay asks instead of a live model."""

from collections.abc import Iterable, Mapping

from apps.pipeline.core.model_calls import ModelAnswer, ModelCallRecord, ModelFailed, ModelRequest


class ReplayMiss(ModelFailed):
    """Nothing was recorded for this request: the prompt or what it tells has changed. No live model is asked."""


class RecordedModel:
    """Answers each request as it was answered before, at no cost."""

    def __init__(self, *, answers: Mapping[str, ModelAnswer]) -> None:
        self._answers = dict(answers)

    @classmethod
    def of_calls(cls, calls: Iterable[ModelCallRecord]) -> "RecordedModel":
        """Take the answers of calls that could be used, by their request's hash."""
        usable = [call for call in calls if not call.error]
        return cls(answers={call.request_hash: ModelAnswer(text=call.answer, model=call.model) for call in usable})

    def complete(self, request: ModelRequest) -> ModelAnswer:
        """Answer a request. Raises ReplayMiss."""
        answer = self._answers.get(request.hash)
        if answer is None:
            raise ReplayMiss(f"no answer was recorded for {request.hash[:12]}", permanent=True, model=request.model)
        return answer
