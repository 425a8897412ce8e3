"""A few threads compute at the same time, in turn; a thread that waits for a remote answer returns its permit."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future

import pytest
from openai.types import CreateEmbeddingResponse

from apps.actions.live_ports import live
from apps.pipeline.core.model_calls import ModelAnswer, ModelRequest
from apps.providers import registry
from apps.providers.cpu_permits import CpuPermits, permit_returned
from apps.providers.fake import ScriptedModel
from apps.providers.openai_compatible import OpenAICompatibleEmbedder
from apps.worker.deadline_model import DeadlineModel
from apps.worker.shutdown import Deadline
from apps.worker.thread_pool import ThreadPool
from benchmarks.model_server import Asked, ModelServer, Reply
from tests.providers.model_replies import CLAUDE, request

PATIENCE = 60.0


class FarAway(OpenAICompatibleEmbedder):
    """An embedder on another machine that answers once two threads ask it."""

    def __init__(self) -> None:
        super().__init__(name="far", dimension=2, api_key="none", base_url="http://127.0.0.1:9", timeout=PATIENCE)
        self._both = threading.Barrier(2, timeout=PATIENCE)

    def _send(self, texts: Sequence[str], seconds: float) -> CreateEmbeddingResponse:
        self._both.wait()
        vectors = [{"object": "embedding", "index": at, "embedding": [1.0, 0.0]} for at in range(len(texts))]
        return CreateEmbeddingResponse.model_validate(
            {"object": "list", "model": "far", "data": vectors, "usage": {"prompt_tokens": 1, "total_tokens": 1}}
        )


def at_once(permits: CpuPermits, do: Callable[[], object], *, times: int) -> list[Future[int]]:
    def work() -> int:
        with permits.held():
            do()
        return 1

    crew = ThreadPool(times)
    futures = [crew.submit(work) for _ in range(times)]
    crew.dismiss()
    return futures


def results(futures: list[Future[int]]) -> list[int]:
    return [each.result(PATIENCE) for each in futures]


def test_no_more_work_at_once_than_there_are_permits() -> None:
    may_end, begun = threading.Event(), threading.Semaphore(0)

    def wait() -> None:
        begun.release()
        may_end.wait(PATIENCE)

    futures = at_once(CpuPermits(2), wait, times=4)
    assert begun.acquire(timeout=PATIENCE)
    assert begun.acquire(timeout=PATIENCE)
    assert not begun.acquire(timeout=0.2)
    may_end.set()
    assert results(futures) == [1] * 4


def test_first_come_first_served() -> None:
    permits, order = CpuPermits(1), []
    futures = []
    with permits.held():
        for number in range(4):
            futures += at_once(permits, lambda number=number: order.append(number), times=1)  # type: ignore[misc]
            while permits.waiting <= number:
                time.sleep(0.001)  # until the thread waits
    assert results(futures) == [1] * 4
    assert order == [0, 1, 2, 3]


def test_slow_work_holds_up_others_only_for_a_moment() -> None:
    permits = CpuPermits(1, patience=0.01)
    with permits.held():
        assert results(at_once(permits, lambda: None, times=2)) == [1, 1]
    both = threading.Barrier(2, timeout=PATIENCE)
    assert results(at_once(CpuPermits(1, patience=0.01), both.wait, times=2)) == [1, 1]


def test_who_waited_in_vain_returns_no_permit() -> None:
    permits = CpuPermits(1, patience=0.01)

    def wait_elsewhere() -> None:
        with permit_returned():
            pass

    with permits.held():
        assert results(at_once(permits, wait_elsewhere, times=1)) == [1]
        assert permits.free == 0
    assert permits.free == 1


def test_who_waits_for_a_model_lets_another_in(model_server: ModelServer) -> None:
    permits, usual = CpuPermits(1), model_server.answering
    free: list[int] = []

    def answer(asked: Asked) -> Reply:
        free.append(permits.free)
        return usual(asked)

    model_server.answering = answer
    with permits.held():
        registry.PricedModels().complete(request(CLAUDE))
        assert (free, permits.free) == ([1], 0)


def test_a_caller_who_waits_for_a_model_lets_another_in() -> None:
    both = threading.Barrier(2, timeout=PATIENCE)

    def answer(_: ModelRequest) -> ModelAnswer:
        both.wait()
        return ModelAnswer(text="{}", model="waiting")

    model = DeadlineModel(ScriptedModel(answer), Deadline(time.monotonic() + PATIENCE))
    assert results(at_once(CpuPermits(1), lambda: model.complete(request()), times=2)) == [1, 1]


def test_who_waits_for_an_embedder_elsewhere_lets_another_in() -> None:
    embedder = FarAway()
    assert results(at_once(CpuPermits(1), lambda: embedder.embed(["x"]), times=2)) == [1, 1]


def test_an_embedder_in_this_process_keeps_its_permit() -> None:
    permits = CpuPermits(1)
    with permits.held():
        live().embedder.embed(["x"])
        assert permits.free == 0


def test_a_permit_is_taken_again_after_a_failure() -> None:
    permits = CpuPermits(1)

    def fail() -> None:
        with permit_returned():
            raise ValueError("no answer")

    (failed,) = at_once(permits, fail, times=1)
    with pytest.raises(ValueError, match="no answer"):
        failed.result(PATIENCE)
    assert results(at_once(permits, lambda: None, times=1)) == [1]
