"""A few threads compute at the same time; a thread that waits for a remote answer returns its permit."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace

import pytest

from apps.actions.live_ports import live
from apps.pipeline.core.model_calls import ModelAnswer, ModelRequest, Purpose
from apps.pipeline.core.ports import Vector
from apps.providers.openai_compatible import OpenAICompatibleEmbedder
from apps.worker.cpu_permits import CpuPermits
from apps.worker.thread_pool import ThreadPool

PATIENCE = 60.0


class Waiting:
    """A model that answers once two threads ask it."""

    def __init__(self) -> None:
        self._both = threading.Barrier(2, timeout=PATIENCE)

    def complete(self, request: ModelRequest) -> ModelAnswer:
        self._both.wait()
        return ModelAnswer(text="{}", model="waiting")


class FarAway(OpenAICompatibleEmbedder):
    """An embedder on another machine that answers once two threads ask it."""

    def __init__(self) -> None:
        super().__init__(name="far", dimension=2, api_key="none", base_url="http://127.0.0.1:9", timeout=PATIENCE)
        self._both = threading.Barrier(2, timeout=PATIENCE)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        self._both.wait()
        return [[1.0, 0.0] for _ in texts]


def at_once(permits: CpuPermits, do: Callable[[], object], *, times: int) -> list[Future[int]]:
    def work() -> int:
        with permits.held():
            do()
        return 1

    crew = ThreadPool(times)
    futures = [crew.submit(work) for _ in range(times)]
    crew.dismiss()
    return futures


def test_no_more_work_at_once_than_there_are_places() -> None:
    may_end, begun = threading.Event(), threading.Semaphore(0)

    def wait() -> None:
        begun.release()
        may_end.wait(PATIENCE)

    futures = at_once(CpuPermits(2), wait, times=4)
    assert begun.acquire(timeout=PATIENCE)
    assert begun.acquire(timeout=PATIENCE)
    assert not begun.acquire(timeout=0.2)
    may_end.set()
    assert [each.result(PATIENCE) for each in futures] == [1] * 4


def test_who_waits_for_a_model_lets_another_in() -> None:
    permits = CpuPermits(1)
    model = permits.returned_by(replace(live(), model=Waiting())).model
    assert model is not None
    request = ModelRequest(
        purpose=Purpose.EXTRACT, prompt_version="", static="", context="", turns="", schema={}, max_tokens=1
    )
    futures = at_once(permits, lambda: model.complete(request), times=2)
    assert [each.result(PATIENCE) for each in futures] == [1, 1]


def test_who_waits_for_an_embedder_elsewhere_lets_another_in() -> None:
    permits = CpuPermits(1)
    embedder = permits.returned_by(replace(live(), embedder=FarAway())).embedder
    assert embedder.dimension == 2
    futures = at_once(permits, lambda: embedder.embed(["x"]), times=2)
    assert [each.result(PATIENCE) for each in futures] == [1, 1]


def test_an_embedder_in_this_process_keeps_its_place() -> None:
    ports = live()
    assert CpuPermits(1).returned_by(ports).embedder is ports.embedder


def test_a_place_is_taken_again_after_a_failure() -> None:
    permits = CpuPermits(1)

    def fail() -> None:
        with permits.returned():
            raise ValueError("no answer")

    (failed,) = at_once(permits, fail, times=1)
    with pytest.raises(ValueError, match="no answer"):
        failed.result(PATIENCE)
    (done,) = at_once(permits, lambda: None, times=1)
    assert done.result(PATIENCE) == 1
