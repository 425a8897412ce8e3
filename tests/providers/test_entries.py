"""MODELS: several servers, each with its own key, and messages about invalid entries."""

from collections.abc import Iterator
from contextlib import ExitStack
from decimal import Decimal
from typing import Any

import pytest

from apps.pipeline.core.model_calls import ModelFailed
from apps.providers import registry
from apps.providers.entries import choice_of, problem_with
from apps.providers.errors import UnknownProvider
from benchmarks.model_server import ModelServer, Reply, running
from tests.providers.model_replies import CLAUDE, OTHER, request

VENDORS_KEY, OWN_KEY = "sk-secret-of-this-test", "sk-of-the-other-server"


@pytest.fixture
def other_server(model_server: ModelServer, settings: Any) -> Iterator[ModelServer]:
    """A second server, which MODELS names as "local" without and "hosted" with a key."""
    with ExitStack() as stack:
        server = stack.enter_context(running(ModelServer()))
        local = {"provider": "openai", "model": "small", "base_url": f"{server.url}/v1"}
        claude = {"provider": "anthropic", "model": "claude-haiku-4-5", "base_url": server.url, "api_key": OWN_KEY}
        settings.MODELS = {"local": local, "hosted": {**local, "api_key": OWN_KEY}, "gateway": claude}
        registry.forget_models()
        yield server


def asked(server: ModelServer) -> list[str]:
    return [" ".join(each.headers.values()) for each in server.asked]


def test_a_request_names_the_entry_that_answers_it(model_server: ModelServer, other_server: ModelServer) -> None:
    models = registry.PricedModels()
    answers = [models.complete(request(spec)).model for spec in ("local", CLAUDE, OTHER, "gateway")]
    assert answers == ["small", "claude-haiku-4-5", "gpt-4.1-mini", "claude-haiku-4-5"]
    assert (len(other_server.asked), len(model_server.asked)) == (2, 2)


def test_no_server_gets_the_key_of_another(model_server: ModelServer, other_server: ModelServer) -> None:
    for spec in ("local", "hosted", "gateway", OTHER, CLAUDE):
        registry.PricedModels().complete(request(spec))
    without, *with_own = asked(other_server)
    assert all(key not in without for key in (VENDORS_KEY, OWN_KEY))
    assert all(OWN_KEY in headers and VENDORS_KEY not in headers for headers in with_own)
    assert all(VENDORS_KEY in headers and OWN_KEY not in headers for headers in asked(model_server))


@pytest.mark.parametrize(
    ("fields", "base_url", "api_key"),
    [
        ({}, "http://proxy/v1", "sk-proxy"),
        ({"base_url": "http://a/v1"}, "http://a/v1", ""),
        ({"api_key": "sk-a"}, "", "sk-a"),  # to the vendor, not to a proxy that it wasn't given for
        ({"base_url": "http://a/v1", "api_key": "sk-a"}, "http://a/v1", "sk-a"),
    ],
)
def test_an_address_and_a_key_go_together(settings: Any, fields: dict[str, str], base_url: str, api_key: str) -> None:
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = "http://proxy/v1", "sk-proxy"
    settings.MODELS = {"a": {"provider": "openai", "model": "m", **fields}}
    server = choice_of("a").server
    assert (server.base_url, server.api_key) == (base_url, api_key)
    assert "sk-" not in f"{choice_of('a')!r}"


def test_an_entry_has_its_own_price_reliability_and_time_out(other_server: ModelServer, settings: Any) -> None:
    settings.MODELS["local"] |= {"prices": {"input": 2, "output": 0}, "reliability": 0.6}
    settings.MODELS["slow"] = {**settings.MODELS["local"], "timeout": 0.05}
    other_server.answering = lambda call: Reply(text="{}")
    answer = registry.PricedModels().complete(request("local"))
    read = answer.usage.input + answer.usage.cache_read
    assert (answer.reliability, answer.cost_usd) == (0.6, Decimal(2 * read) / 1_000_000)

    other_server.answering = lambda call: Reply(text="{}", delay_ms=2_000)
    with pytest.raises(ModelFailed, match="Timeout"):
        registry.PricedModels().complete(request("slow"))


def test_an_entry_says_how_much_room_an_answer_needs(other_server: ModelServer, settings: Any) -> None:
    settings.MODELS["local"] |= {"max_output_tokens": 9_000}
    registry.PricedModels().complete(request("local"))
    assert other_server.asked[-1].body["max_tokens"] == 9_000


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"provider": "openai", "model": "m", "base_url": "http://a/v1"}, ""),
        ({"provider": "openai", "model": "m"}, "'a' needs OPENAI_API_KEY"),
        ({"provider": "anthropic", "model": "m", "base_url": "http://a"}, "'a' needs an api_key in MODELS"),
        ({"provider": "wordllama", "model": "m"}, "MODELS: a.provider: 'wordllama' offers no models"),
        ({"provider": "nobody", "model": "m"}, "MODELS: a.provider: 'nobody' offers no models"),
        ({"provider": "openai"}, "MODELS: a.model: Field required"),
        ({"provider": "openai", "model": "m", "apikey": "x"}, "MODELS: a.apikey: Extra inputs are not permitted"),
        ({"provider": "openai", "model": "m", "base_url": "localhost"}, "MODELS: a.base_url: String should match"),
        ({"provider": "openai", "model": "m", "prices": {"input": 1}}, "MODELS: a.prices.output: Field required"),
        ("openai:m", "MODELS: a: Input should be"),
    ],
)
def test_what_is_wrong_with_an_entry(settings: Any, entry: Any, problem: str) -> None:
    settings.OPENAI_API_KEY = settings.OPENAI_BASE_URL = settings.ANTHROPIC_API_KEY = ""
    settings.MODELS = {"a": entry}
    assert problem_with("a").startswith(problem)
    assert bool(problem_with("a")) is bool(problem)


def test_a_bad_entry_is_reported_without_its_key(settings: Any) -> None:
    settings.MODELS = {"a": {"provider": "openai", "model": "m", "api_key": ["sk-secret"]}}
    with pytest.raises(UnknownProvider) as raised:
        choice_of("a")
    assert "sk-secret" not in str(raised.value)
