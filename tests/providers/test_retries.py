"""A call is repeated after a temporary failure, and all its tries stay within the time of one call."""

import pytest

from apps.common.errors import ProviderError
from apps.pipeline.core.model_calls import FailureKind, ModelFailed
from apps.providers import errors, registry
from apps.providers.openai_compatible import OpenAICompatibleEmbedder
from benchmarks.model_server import ModelServer, Reply
from tests.providers.model_replies import BOTH, request, script


class FakeTime:
    """A clock that only sleeping and sending move."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    fake = FakeTime()
    monkeypatch.setattr(errors, "time", fake)
    return fake


def test_a_call_that_uses_up_its_time_is_not_repeated(clock: FakeTime) -> None:
    given: list[float] = []

    def time_out(seconds: float) -> str:
        given.append(seconds)
        clock.now += seconds
        raise TimeoutError

    with pytest.raises(TimeoutError):
        errors.retried(time_out, seconds=30.0, failures=(TimeoutError,))
    assert (given, clock.now) == ([30.0], 30.0)


def test_what_fails_at_once_is_tried_three_times_with_growing_waits(clock: FakeTime) -> None:
    given: list[float] = []

    def fail(seconds: float) -> str:
        given.append(seconds)
        raise ConnectionError

    with pytest.raises(ConnectionError):
        errors.retried(fail, seconds=30.0, failures=(ConnectionError,))
    assert len(given) == 3
    assert given == sorted(given, reverse=True)
    assert 0.3 < clock.slept[0] <= 0.5 < clock.slept[1] <= 1.0


def test_other_errors_are_not_repeated(clock: FakeTime) -> None:
    with pytest.raises(KeyError):
        errors.retried(lambda _: {}[""], seconds=30.0, failures=(ConnectionError,))
    assert clock.slept == []


@BOTH
def test_a_lost_connection_names_its_cause(model_server: ModelServer, spec: str, clock: FakeTime) -> None:
    script(model_server, Reply(hang_up=True))
    with pytest.raises(ModelFailed) as failed:
        registry.PricedModels().complete(request(spec))
    assert "disconnected" in str(failed.value)
    assert not failed.value.is_timeout


def test_an_embedder_at_a_wrong_address_is_unavailable(model_server: ModelServer) -> None:
    embedder = OpenAICompatibleEmbedder(
        name="small", dimension=3, api_key="x", base_url=f"{model_server.url}/v1", timeout=5.0
    )
    with pytest.raises(ProviderError) as failed:
        embedder.embed(["a"])
    assert failed.value.kind is FailureKind.UNAVAILABLE
