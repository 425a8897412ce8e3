"""CPU permits: many threads of a worker wait for models at the same time, but only a few of them compute.

Under the global interpreter lock, threads that compute at the same time only slow each other down.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import BoundedSemaphore

from apps.pipeline.core.model_calls import ModelAnswer, ModelRequest
from apps.pipeline.core.ports import Embedder, Model, Ports, Vector
from apps.providers import registry


class CpuPermits:
    """A semaphore of `count` permits to compute; a thread returns its permit while it waits for a remote service."""

    def __init__(self, count: int) -> None:
        self._free = BoundedSemaphore(count)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for a permit and hold it while the block runs."""
        with self._free:
            yield

    @contextmanager
    def returned(self) -> Iterator[None]:
        """Return the permit while the block runs, then wait for one again."""
        self._free.release()
        try:
            yield
        finally:
            self._free.acquire()

    def returned_by(self, ports: Ports) -> Ports:
        """Return ports whose remote calls return the thread's permit while they wait."""
        model = _RemoteModel(ports.model, self) if ports.model else None
        embedder = _RemoteEmbedder(ports.embedder, self) if registry.is_remote(ports.embedder) else ports.embedder
        return replace(ports, model=model, embedder=embedder)


class _RemoteModel:
    """A model that is called without holding a permit."""

    def __init__(self, model: Model, permits: CpuPermits) -> None:
        self._model, self._permits = model, permits

    def complete(self, request: ModelRequest) -> ModelAnswer:
        with self._permits.returned():
            return self._model.complete(request)


class _RemoteEmbedder:
    """An embedder that is called without holding a permit."""

    def __init__(self, embedder: Embedder, permits: CpuPermits) -> None:
        self.name, self.dimension = embedder.name, embedder.dimension
        self._embedder, self._permits = embedder, permits

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        with self._permits.returned():
            return self._embedder.embed(texts)
