"""System checks: the database, the configured models, and what `check --deploy` of Django lacks."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, Tags, Warning, register
from django.db import DatabaseError, connection

from apps.pipeline.prompts.extract import STATIC, estimated_tokens
from apps.providers.catalog import provider_of
from apps.providers.entries import choice_of, problem_with
from apps.providers.errors import UnknownProvider
from apps.providers.registry import price_of
from apps.traces.models import ConfigurationVersion

LEAST_POSTGRESQL = (16,)


@register(Tags.database)
def check_database(databases: Iterable[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Report a database that is unreachable or too old."""
    if not databases:
        return []
    try:
        version = connection.get_database_version()
    except DatabaseError as error:
        return [Error(f"the database can't be reached: {error}", id="memplatform.E001")]
    if version < LEAST_POSTGRESQL:
        return [Error(f"PostgreSQL 16 or newer is needed; this is {version[0]}", id="memplatform.E002")]
    return []


@register(deploy=True)
def check_names(**_: Any) -> list[CheckMessage]:
    """Report variables whose names resemble those of settings."""
    return [
        Warning(f"{name} is no setting; did you mean {meant}?", id="memplatform.W033")
        for name, meant in settings.MISSPELT.items()
    ]


@register(Tags.security, deploy=True)
def check_hosts(**_: Any) -> list[CheckMessage]:
    """Report that any host name is accepted."""
    if "*" not in settings.ALLOWED_HOSTS:
        return []
    return [Warning("ALLOWED_HOSTS accepts any name: a forged one reaches the links of pages", id="memplatform.W032")]


@register(Tags.security, deploy=True)
def check_models(**_: Any) -> list[CheckMessage]:
    """Report unknown models and embedders, missing keys, a prompt too short for the cache or too long for a window."""
    problems = [*_model_problems(settings.MODEL)]
    for name in settings.MODELS:
        try:
            choice = choice_of(name)
        except UnknownProvider as error:
            problems.append(Error(str(error), id="memplatform.E028"))
            continue
        if choice.missing_key and name != settings.MODEL:
            problems.append(Error(f"MODELS: {problem_with(name)}", id="memplatform.E029"))
        # The prompt's static part and the room for an answer; turns and what is known come on top.
        least = estimated_tokens(STATIC) + choice.entry.max_output_tokens
        window = choice.entry.context_window
        if window is not None and window < least:
            needed = f"a prompt and its answer need more than {least} tokens, its context_window is {window}"
            problems.append(Warning(f"MODELS: {name}: {needed}", id="memplatform.W030"))
    embedder = settings.EMBEDDER
    provider = provider_of(embedder)
    if provider is None or provider.embedder is None:
        problems.append(Error(f"EMBEDDER={embedder!r} names no embedder", id="memplatform.E025"))
    elif provider.embedder_server and not provider.has_key(provider.embedder_server()):
        needed = f"EMBEDDER_API_KEY, EMBEDDER_BASE_URL, {provider.key_setting} or {provider.base_url_setting}"
        problems.append(Error(f"EMBEDDER={embedder!r} needs {needed}", id="memplatform.E026"))
    return problems


@register(Tags.database, deploy=True)
def check_models_of_projects(databases: Iterable[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Report projects whose active configuration names a model that can't be asked (with --database only)."""
    if not databases:
        return []
    active = ConfigurationVersion.objects.filter(is_active=True).exclude(policy__extraction__model="")
    named = active.order_by("project__slug").values_list("project__slug", "policy__extraction__model")
    try:
        problems = [(slug, problem_with(spec)) for slug, spec in named if spec]
    except DatabaseError:  # not reached, or not migrated; another check says so
        return []
    return [Error(f"project {slug}: {problem}", id="memplatform.E027") for slug, problem in problems if problem]


def _model_problems(spec: str) -> Iterable[CheckMessage]:
    if not spec:
        yield Info("MODEL is empty: a table and notes extract alone", id="memplatform.I020")
        return
    try:
        choice = choice_of(spec)
    except UnknownProvider as error:
        yield Error(f"MODEL: {error}", id="memplatform.E020")
        return
    if choice.missing_key:
        yield Error(f"MODEL: {problem_with(spec)}", id="memplatform.E021")
    name = choice.entry.model
    if price_of(name, prices=choice.prices) is None:
        yield Warning(f"{name} has no price in MODEL_PRICES: its calls count as free", id="memplatform.W022")
    known = choice.provider.least_cacheable_tokens
    if not known:
        return
    least = next((tokens for model, tokens in known.items() if name.startswith(model)), None)
    if least is None:
        yield Warning(f"{name} is not known here: whether its prompt is cached is not known", id="memplatform.W023")
    elif estimated_tokens(STATIC) < least:
        size = f"the prompt's static part, about {estimated_tokens(STATIC)} tokens, is under the {least}"
        yield Warning(f"{size} that {name} caches", id="memplatform.W024")
