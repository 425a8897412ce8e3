"""The clients of this process, one per model and embedder, with the costs of their calls."""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from threading import BoundedSemaphore

from django.conf import settings

from apps.pipeline.core.enums import ExtractorKind
from apps.pipeline.core.model_calls import FailureKind, ModelAnswer, ModelFailed, ModelRequest, Usage
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.ports import Embedder, Model
from apps.providers.catalog import PROVIDERS, provider_of
from apps.providers.entries import choice_of, problem_with
from apps.providers.errors import UnknownProvider
from apps.providers.observed import observed_call
from apps.providers.response_body import CUT_PROMPTS

_MILLION = Decimal(1_000_000)
# Shares of the input price, used if a table has no price for the cache.
_CACHE_READ, _CACHE_WRITE = Decimal("0.1"), Decimal("1.25")


def price_of(name: str, *, prices: Mapping[str, Mapping[str, float]]) -> Mapping[str, float] | None:
    """Return the prices of a model, or of the family that its dated name begins with."""
    return prices.get(name) or next((prices[each] for each in prices if name.startswith(f"{each}-")), None)


def cost_of(usage: Usage, *, name: str, prices: Mapping[str, Mapping[str, float]]) -> Decimal:
    """Return the cost of a call in dollars; 0 for a model without a price."""
    price = price_of(name, prices=prices)
    if price is None:
        return Decimal(0)
    read, written = Decimal(str(price["input"])), Decimal(str(price["output"]))
    cache_read = Decimal(str(price.get("cache_read", read * _CACHE_READ)))
    cache_write = Decimal(str(price.get("cache_write", read * _CACHE_WRITE)))
    total = (
        usage.input * read + usage.output * written + usage.cache_read * cache_read + usage.cache_write * cache_write
    )
    return total / _MILLION


def embedder(spec: str = "") -> Embedder:
    """Return the embedder of that name, or the configured one (EMBEDDER); one instance per process.

    Raises UnknownProvider.
    """
    return _embedder(spec or settings.EMBEDDER)


@cache
def _embedder(spec: str) -> Embedder:
    provider = provider_of(spec)
    if provider is None or provider.embedder is None:
        known = sorted(each.name for each in PROVIDERS if each.embedder)
        raise UnknownProvider(f"no embedder is called {spec!r}; there are {', '.join(known)}")
    return provider.embedder(spec.partition(":")[2])


def is_remote(embedder: Embedder) -> bool:
    """Return True if an embedder calls another machine."""
    provider = provider_of(embedder.name)
    return provider is not None and provider.embedder_server is not None


def has_model(spec: str = "") -> bool:
    """Return True if there is a model: the one that a policy names, or the configured one (MODEL)."""
    return bool(spec or settings.MODEL)


def asks_model(extraction: ExtractionPolicy) -> bool:
    """Return True if a model extracts under this policy."""
    return extraction.extractor is not ExtractorKind.PLAIN and has_model(extraction.model)


def model(spec: str = "") -> Model:
    """Return the model with a name, or the configured one; one instance with one client per process.

    Raises UnknownProvider.
    """
    return _model(spec or settings.MODEL)


@cache
def _model(spec: str) -> Model:
    return choice_of(spec).make_client()


@cache
def _slots() -> BoundedSemaphore:
    return BoundedSemaphore(settings.MODEL_CONCURRENCY)


def forget_models() -> None:
    """Drop all clients, after settings have changed or in a forked process, which must not share their sockets."""
    _model.cache_clear()
    _slots.cache_clear()


os.register_at_fork(after_in_child=forget_models)


class PricedModels:
    """Calls the model that each request names, with limited concurrency, and adds the cost to the answer."""

    def complete(self, request: ModelRequest) -> ModelAnswer:
        """Answer a request. Raises ModelFailed."""
        spec = request.model or settings.MODEL
        if problem := problem_with(spec):
            raise ModelFailed(problem, permanent=True, kind=FailureKind.UNAVAILABLE, model=spec)
        choice = choice_of(spec)
        asked = replace(request, max_tokens=max(request.max_tokens, choice.entry.max_output_tokens))

        def priced() -> ModelAnswer:
            answer = model(spec).complete(asked)
            return replace(
                answer,
                cost_usd=cost_of(answer.usage, name=answer.model, prices=choice.prices),
                reliability=choice.entry.reliability,
                max_tokens=asked.max_tokens,
                is_prompt_cut=CUT_PROMPTS.check(asked, answer, spec=spec),
            )

        with _slots():
            return observed_call(asked, spec=spec, choice=choice, ask=priced)


@dataclass(frozen=True, slots=True)
class ConfiguredModel:
    """A model that can be called; `names` are those under which its calls are recorded."""

    spec: str
    names: frozenset[str]
    problem: str = ""  # why it can't be called, judging from the settings


def configured_models(*, also: str = "") -> list[ConfiguredModel]:
    """Return the model of the server, the one named `also`, and the entries of MODELS, each once."""
    specs = dict.fromkeys(each for each in (also, settings.MODEL, *settings.MODELS) if each)
    models = []
    for spec in specs:
        names = {spec, ""} if spec == settings.MODEL else {spec}
        with suppress(UnknownProvider):
            names.add(choice_of(spec).entry.model)
        models.append(ConfiguredModel(spec, frozenset(names), problem_with(spec)))
    return models


def remote_embedder() -> str:
    """Return the name of the configured embedder if it runs on another machine, else ""."""
    configured = embedder()
    return configured.name if is_remote(configured) else ""


def complete_within(request: ModelRequest, *, seconds: float) -> ModelAnswer:
    """Ask a model once, with all its retries within a time, by a client of its own. Raises ModelFailed."""
    if problem := problem_with(request.model):
        raise ModelFailed(problem, permanent=True, kind=FailureKind.UNAVAILABLE, model=request.model)
    choice = choice_of(request.model)
    answer = choice.make_client(most_seconds=seconds).complete(request)
    return replace(answer, cost_usd=cost_of(answer.usage, name=answer.model, prices=choice.prices))
