"""The clients of this process: one instance per model and embedder, by their names in settings and policies."""

import os
from dataclasses import replace
from functools import cache
from threading import BoundedSemaphore

from django.conf import settings

from apps.pipeline.core.enums import ExtractorKind
from apps.pipeline.core.model_calls import FailureKind, ModelAnswer, ModelFailed, ModelRequest
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.ports import Embedder, Model
from apps.providers.catalog import PROVIDERS, provider_of
from apps.providers.cut_prompts import CUT_PROMPTS
from apps.providers.entries import Choice, choice_of, problem_with
from apps.providers.errors import UnknownProvider
from apps.providers.observed import observed_call
from apps.providers.pricing import cost_of


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
    choice = choice_of(spec)
    return choice.make_client()


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
        with _slots():
            return observed_call(asked, spec=spec, choice=choice, ask=lambda: _priced(asked, spec, choice))


def _priced(asked: ModelRequest, spec: str, choice: Choice) -> ModelAnswer:
    answer = model(spec).complete(asked)
    return replace(
        answer,
        cost_usd=cost_of(answer.usage, name=answer.model, prices=choice.prices),
        reliability=choice.entry.reliability,
        max_tokens=asked.max_tokens,
        is_prompt_cut=CUT_PROMPTS.check(asked, answer, spec=spec),
    )
