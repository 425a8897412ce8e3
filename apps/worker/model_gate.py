"""Model calls of one project: a call that gets no answer begins a pause, and no call is made during a pause."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar
from uuid import UUID

from django.conf import settings

from apps.common.errors import ProviderError
from apps.outbox import model_pauses
from apps.outbox.models import ModelPause, PausedKind
from apps.pipeline.core.model_calls import FailureKind, ModelAnswer, ModelFailed, ModelRequest
from apps.pipeline.core.ports import Embedder, Model, Ports, Vector
from apps.providers import registry

Answer = TypeVar("Answer")


class ModelPaused(ModelFailed):
    """A model does not answer the project; work that needs it waits.

    `is_suspect`: it answered other calls until this one timed out.
    """

    def __init__(self, pause: ModelPause, *, is_suspect: bool = False, is_recorded: bool = False) -> None:
        super().__init__(pause.reason, model=pause.model, is_recorded=is_recorded)
        self.paused_model = pause.model
        self.is_suspect = is_suspect


@dataclass(slots=True)
class ModelGate:
    """Makes the model calls of one project's work; `paused` are the models that were paused when the work was taken."""

    project_id: UUID
    paused: set[str] = field(default_factory=set)

    def guarded(self, ports: Ports) -> Ports:
        """Return ports whose model, and embedder on another machine, are called through this gate."""
        model = _GuardedModel(ports.model, self) if ports.model else None
        embedder = _GuardedEmbedder(ports.embedder, self) if registry.is_remote(ports.embedder) else ports.embedder
        return replace(ports, model=model, embedder=embedder)

    def call(self, name: str, kind: PausedKind, ask: Callable[[], Answer]) -> Answer:
        """Call a model unless it is paused. Raises ModelPaused, and what `ask` raises of this one request."""
        pause = None
        if name in self.paused:
            pause = model_pauses.find_pause(project_id=self.project_id, model=name)
            if pause is None:
                self.paused.discard(name)
        if pause and not pause.may_try:
            raise ModelPaused(pause)
        try:
            answer = ask()
        except (ModelFailed, ProviderError) as failure:
            if failure.kind is not FailureKind.UNAVAILABLE:
                self._end_pause(name)  # the server accepts other requests
                raise
            was_try = pause is not None
            self.paused.add(name)
            pause, is_new = model_pauses.record_failure(
                project_id=self.project_id,
                model=name,
                kind=kind,
                error=str(failure),
                retry_after_seconds=failure.retry_after_seconds,
                was_try=was_try,
            )
            paused = ModelPaused(pause, is_suspect=is_new and failure.is_timeout, is_recorded=not was_try)
            if isinstance(failure, ModelFailed):
                paused.model, paused.latency_us = failure.model, failure.latency_us
            raise paused from failure
        self._end_pause(name)
        return answer

    def _end_pause(self, name: str) -> None:
        if name in self.paused:
            model_pauses.end_pause(project_id=self.project_id, model=name)
            self.paused.discard(name)


class _GuardedModel:
    """A model that is called through a gate."""

    def __init__(self, model: Model, gate: ModelGate) -> None:
        self._model, self._gate = model, gate

    def complete(self, request: ModelRequest) -> ModelAnswer:
        name = request.model or settings.MODEL
        return self._gate.call(name, PausedKind.MODEL, lambda: self._model.complete(request))


class _GuardedEmbedder:
    """An embedder that is called through a gate."""

    def __init__(self, embedder: Embedder, gate: ModelGate) -> None:
        self.name, self.dimension = embedder.name, embedder.dimension
        self._embedder, self._gate = embedder, gate

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return self._gate.call(self.name, PausedKind.EMBEDDER, lambda: self._embedder.embed(texts))
