"""System checks of the models that the settings name; they call nobody."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, Tags, Warning, register
from django.db import DatabaseError

from apps.pipeline.prompts.extract import STATIC, estimated_tokens
from apps.providers.names import LEAST_CACHEABLE_TOKENS, missing_key, names_a_model, problem_with
from apps.providers.pricing import price_of
from apps.traces.models import ConfigurationVersion

_EMBEDDERS = frozenset({"wordllama", "hashing", "openai", "sentence-transformers"})


@register(Tags.security, deploy=True)
def check_models(**_: Any) -> list[CheckMessage]:
    """Tell a model or embedder that nobody knows, a missing key, a prompt too short for the model's cache."""
    return [*_model_problems(settings.MODEL), *_embedder_problems(settings.EMBEDDER)]


@register(Tags.database, deploy=True)
def check_models_of_projects(databases: Iterable[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Tell projects whose active configuration names a model that can't be asked (with --database only)."""
    if not databases:
        return []
    active = ConfigurationVersion.objects.filter(is_active=True).exclude(policy__extraction__model="")
    named = active.order_by("project__slug").values_list("project__slug", "policy__extraction__model")
    try:
        told = [(slug, problem_with(spec)) for slug, spec in named if spec]
    except DatabaseError:  # not reached, or not migrated; another check says so
        return []
    return [Error(f"project {slug}: {problem}", id="memplatform.E027") for slug, problem in told if problem]


def _model_problems(spec: str) -> Iterable[CheckMessage]:
    provider, _, name = spec.partition(":")
    if not spec:
        yield Info("MODEL is empty: the patterns extract alone", id="memplatform.I020")
        return
    if not names_a_model(spec):
        yield Error(f"MODEL: {problem_with(spec)}", id="memplatform.E020")
        return
    if missing_key(spec):
        yield Error(f"MODEL: {problem_with(spec)}", id="memplatform.E021")
    if price_of(name, prices=settings.MODEL_PRICES) is None:
        yield Warning(f"{name} has no price in MODEL_PRICES: its calls count as free", id="memplatform.W022")
    yield from _cache_problems(provider, name)


def _cache_problems(provider: str, name: str) -> Iterable[CheckMessage]:
    if provider != "anthropic":
        return
    least = next((tokens for model, tokens in LEAST_CACHEABLE_TOKENS.items() if name.startswith(model)), None)
    if least is None:
        yield Warning(f"{name} is not known here: whether its prompt is cached is not known", id="memplatform.W023")
    elif estimated_tokens(STATIC) < least:
        told = f"the prompt's static part, about {estimated_tokens(STATIC)} tokens, is under the {least}"
        yield Warning(f"{told} that {name} caches", id="memplatform.W024")


def _embedder_problems(spec: str) -> Iterable[CheckMessage]:
    provider = spec.partition(":")[0]
    if provider not in _EMBEDDERS:
        yield Error(f"EMBEDDER={spec!r} names no embedder", id="memplatform.E025")
    elif provider == "openai" and not (settings.OPENAI_API_KEY or settings.OPENAI_BASE_URL):
        yield Error(f"EMBEDDER={spec!r} needs OPENAI_API_KEY or OPENAI_BASE_URL", id="memplatform.E026")
