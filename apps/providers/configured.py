"""The models that the settings name, and single calls of them outside of any pipeline run."""

from dataclasses import dataclass

from django.conf import settings

from apps.pipeline.core.model_calls import FailureKind, ModelAnswer, ModelFailed, ModelRequest
from apps.providers import registry
from apps.providers.entries import choice_of, problem_with
from apps.providers.errors import UnknownProvider
from apps.providers.pricing import cost_of
from apps.providers.provider import ModelSettings


@dataclass(frozen=True, slots=True)
class ConfiguredModel:
    """A model that can be called; `names` are those under which its calls are recorded."""

    spec: str
    names: frozenset[str]
    problem: str = ""  # why it can't be called, judging from the settings


def configured_models(*, also: str = "") -> list[ConfiguredModel]:
    """Return the model of the server, the one named `also`, and the entries of MODELS, each once."""
    specs = dict.fromkeys(each for each in (also, settings.MODEL, *settings.MODELS) if each)
    return [ConfiguredModel(spec, _names(spec), problem_with(spec)) for spec in specs]


def remote_embedder() -> str:
    """Return the name of the configured embedder if it runs on another machine, else ""."""
    embedder = registry.embedder()
    return embedder.name if registry.is_remote(embedder) else ""


def complete_within(request: ModelRequest, *, seconds: float) -> ModelAnswer:
    """Ask a model once, with all its retries within a time, by a client of its own. Raises ModelFailed."""
    if problem := problem_with(request.model):
        raise ModelFailed(problem, permanent=True, kind=FailureKind.UNAVAILABLE, model=request.model)
    choice = choice_of(request.model)
    bounded = min(seconds, choice.entry.timeout or settings.MODEL_TIMEOUT_SECONDS)
    client = choice.make(ModelSettings(name=choice.entry.model, server=choice.server, timeout=bounded))
    answer = client.complete(request)
    cost = cost_of(answer.usage, name=answer.model, prices=choice.prices)
    return ModelAnswer(answer.text, answer.model, answer.usage, answer.stop, answer.latency_us, cost)


def _names(spec: str) -> frozenset[str]:
    own = {spec, ""} if spec == settings.MODEL else {spec}
    try:
        return frozenset(own | {choice_of(spec).entry.model})
    except UnknownProvider:
        return frozenset(own)
