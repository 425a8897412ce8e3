"""Places to work at: a worker's threads wait for models at the same time, but only a few of them work at once.

Threads of one interpreter that all want to run only hinder each other: everybody's work ends as late as the last one's.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import BoundedSemaphore

from apps.pipeline.model_calls import ModelAnswer, ModelRequest
from apps.pipeline.ports import Embedder, Model, Ports, Vector
from apps.providers import registry


class Places:
    """So many threads work at once; one that waits for an answer from elsewhere lets another in."""

    def __init__(self, count: int) -> None:
        self._free = BoundedSemaphore(count)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Hold a place for as long as the block runs, once there is one."""
        with self._free:
            yield

    @contextmanager
    def left(self) -> Iterator[None]:
        """Give the place back meanwhile, and wait for one again."""
        self._free.release()
        try:
            yield
        finally:
            self._free.acquire()

    def leaving(self, ports: Ports) -> Ports:
        """Return ports that leave the thread's place while they wait for another machine."""
        model = _Asked(ports.model, self) if ports.model else None
        embedder = _Embedding(ports.embedder, self) if registry.is_remote(ports.embedder) else ports.embedder
        return replace(ports, model=model, embedder=embedder)


class _Asked:
    """A model that answers threads without a place."""

    def __init__(self, model: Model, places: Places) -> None:
        self._model, self._places = model, places

    def complete(self, request: ModelRequest) -> ModelAnswer:
        with self._places.left():
            return self._model.complete(request)


class _Embedding:
    """An embedder that answers threads without a place."""

    def __init__(self, embedder: Embedder, places: Places) -> None:
        self.name, self.dimension = embedder.name, embedder.dimension
        self._embedder, self._places = embedder, places

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        with self._places.left():
            return self._embedder.embed(texts)
