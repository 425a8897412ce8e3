"""Which providers there are, by the name that settings, policies and stored vectors use."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from threading import BoundedSemaphore

from django.conf import settings

from apps.pipeline.core.model_calls import ModelAnswer, ModelFailed, ModelRequest
from apps.pipeline.core.ports import Embedder, Model
from apps.providers.errors import UnknownProvider
from apps.providers.fake import HashingEmbedder
from apps.providers.names import names_a_model, problem_with
from apps.providers.pricing import cost_of
from apps.providers.sentence_transformers import SentenceTransformersEmbedder
from apps.providers.wordllama import WordLlamaEmbedder

# A vendor's SDK takes a second to load, in every process and command: those below load one that has been chosen.


def _openai_embedder(name: str) -> Embedder:
    from apps.providers.openai_compatible import OpenAICompatibleEmbedder

    return OpenAICompatibleEmbedder(
        name=name,
        dimension=settings.EMBEDDER_DIMENSION,
        api_key=settings.OPENAI_API_KEY,
        base_url=settings.EMBEDDER_BASE_URL or settings.OPENAI_BASE_URL,
        timeout=settings.MODEL_TIMEOUT_SECONDS,
    )


# By what stands before the colon of "provider:name"; some have no name.
_EMBEDDERS: dict[str, Callable[[str], Embedder]] = {
    "wordllama": lambda _: WordLlamaEmbedder(),
    "hashing": lambda _: HashingEmbedder(),
    "openai": _openai_embedder,
    "sentence-transformers": lambda name: SentenceTransformersEmbedder(name=name),
}


def embedder(name: str = "") -> Embedder:
    """Return the embedder of that name, or the configured one (EMBEDDER); one instance a process.

    Raises UnknownProvider.
    """
    return _embedder(name or settings.EMBEDDER)


@cache
def _embedder(spec: str) -> Embedder:
    provider, _, name = spec.partition(":")
    if provider not in _EMBEDDERS:
        raise UnknownProvider(f"no embedder is called {spec!r}; there are {', '.join(sorted(_EMBEDDERS))}")
    return _EMBEDDERS[provider](name)


def is_remote(embedder: Embedder) -> bool:
    """Tell whether an embedder asks another machine, which takes as long as it takes."""
    return embedder.name.startswith("openai:")


def _anthropic(name: str) -> Model:
    from apps.providers.anthropic import AnthropicModel

    return AnthropicModel(
        name=name,
        api_key=settings.ANTHROPIC_API_KEY,
        base_url=settings.ANTHROPIC_BASE_URL,
        timeout=settings.MODEL_TIMEOUT_SECONDS,
        connections=settings.MODEL_CONCURRENCY,
    )


def _openai(name: str) -> Model:
    from apps.providers.openai_compatible import OpenAICompatibleModel

    return OpenAICompatibleModel(
        name=name,
        api_key=settings.OPENAI_API_KEY,
        base_url=settings.OPENAI_BASE_URL,
        timeout=settings.MODEL_TIMEOUT_SECONDS,
        connections=settings.MODEL_CONCURRENCY,
    )


_MODELS: dict[str, Callable[[str], Model]] = {"anthropic": _anthropic, "openai": _openai}


def has_model(spec: str = "") -> bool:
    """Tell whether there is a model to ask: the one that a policy names, or the configured one (MODEL)."""
    return bool(spec or settings.MODEL)


def model(spec: str = "") -> Model:
    """Return the model "provider:name", or the configured one; one instance, and one client, a process.

    Raises UnknownProvider.
    """
    return _model(spec or settings.MODEL)


@cache
def _model(spec: str) -> Model:
    if not names_a_model(spec):
        raise UnknownProvider(problem_with(spec))
    provider, _, name = spec.partition(":")
    return _MODELS[provider](name)


@cache
def _slots() -> BoundedSemaphore:
    return BoundedSemaphore(settings.MODEL_CONCURRENCY)


def forget_models() -> None:
    """Drop all clients: settings have changed, or this is a forked process that must not share their sockets."""
    _model.cache_clear()
    _slots.cache_clear()


os.register_at_fork(after_in_child=forget_models)


class PricedModels:
    """The model that each request names, so many calls at once as the settings allow, with what each call cost."""

    def complete(self, request: ModelRequest) -> ModelAnswer:
        """Answer a request. Raises ModelFailed."""
        spec = request.model or settings.MODEL
        problem = problem_with(spec)
        if problem:
            raise ModelFailed(problem, permanent=True, model=spec)
        with _slots():
            answer = model(spec).complete(request)
        cost = cost_of(answer.usage, name=answer.model, prices=settings.MODEL_PRICES)
        return replace(answer, cost_usd=cost)
