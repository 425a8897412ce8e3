"""The models that can be used: "provider:name", or the name of an entry of MODELS with its own server."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from apps.pipeline.core.ports import Model
from apps.providers.catalog import BY_NAME, PROVIDERS, ModelSettings, Provider, Server
from apps.providers.errors import UnknownProvider

# Thinking models spend some hundred tokens before the first of the answer; models that don't think stop earlier.
LEAST_OUTPUT_TOKENS = 2_048


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Prices(_Part):
    """Dollars per million tokens; missing prices of the cache are derived from `input`."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_read: float | None = Field(default=None, ge=0)
    cache_write: float | None = Field(default=None, ge=0)


class Entry(_Part):
    """An entry of MODELS. Without its own address and key, it uses its provider's configured server."""

    provider: str
    model: str = Field(min_length=1, description="as the server calls it")
    base_url: str = Field(default="", pattern=r"^(https?://\S+)?$")
    api_key: str = Field(default="", repr=False)
    prices: Prices | None = None
    reliability: float | None = Field(default=None, ge=0, le=1, description="in place of the policy's")
    context_window: int | None = Field(default=None, ge=1, description="tokens of prompt and answer together")
    timeout: float | None = Field(default=None, gt=0, description="seconds of one try")
    max_output_tokens: int = Field(
        default=LEAST_OUTPUT_TOKENS, ge=1, description="a request that allows the answer fewer is raised to this"
    )


@dataclass(frozen=True, slots=True)
class Choice:
    """A model that can be chosen, with its provider."""

    provider: Provider
    make: Callable[[ModelSettings], Model]
    entry: Entry

    @property
    def server(self) -> Server:
        """Return the server to use: the entry's own, or the one in the provider's settings."""
        return Server(base_url=self.entry.base_url, api_key=self.entry.api_key).or_else(self.provider.server)

    @property
    def prices(self) -> Mapping[str, Mapping[str, float]]:
        """Return the price table in which the model is looked up: the entry's own price, or the settings'."""
        own = self.entry.prices
        return {self.entry.model: own.model_dump(exclude_none=True)} if own else settings.MODEL_PRICES

    @property
    def missing_key(self) -> str:
        """Return the setting in which a required key is missing; "" if none is missing."""
        if self.provider.has_key(self.server):
            return ""
        return "an api_key in MODELS" if self.entry.base_url else self.provider.key_setting

    def make_client(self, *, most_seconds: float = inf) -> Model:
        """Return a new client of the model, whose tries take at most so many seconds."""
        timeout = min(self.entry.timeout or settings.MODEL_TIMEOUT_SECONDS, most_seconds)
        return self.make(ModelSettings(name=self.entry.model, server=self.server, timeout=timeout))


def choice_of(spec: str) -> Choice:
    """Return the model with a name. Raises UnknownProvider with the reason."""
    with_models = [each.name for each in PROVIDERS if each.model]
    if spec in settings.MODELS:
        try:
            entry = Entry.model_validate(settings.MODELS[spec])
        except ValidationError as error:
            first = error.errors()[0]  # the message only: the values may contain a key
            place = ".".join((spec, *map(str, first["loc"])))
            raise UnknownProvider(f"MODELS: {place}: {first['msg']}") from None
    else:
        named, _, name = spec.partition(":")
        if named not in with_models or not name:
            choices = [f"{each.name}:…" for each in PROVIDERS if each.model and not each.models]
            choices += sorted(settings.MODELS)
            raise UnknownProvider(f"{spec!r} names no model: write {' or '.join(choices)}")
        entry = Entry(provider=named, model=name)
    provider = BY_NAME.get(entry.provider)
    if provider is None or provider.model is None:
        known = ", ".join(with_models)
        raise UnknownProvider(f"MODELS: {spec}.provider: {entry.provider!r} offers no models; {known} do")
    if provider.models and entry.model not in (names := provider.models()):
        raise UnknownProvider(f"{provider.name} has no model {entry.model!r}; there is {', '.join(names) or 'none'}")
    return Choice(provider, provider.model, entry)


def reliability_of(spec: str) -> float | None:
    """Return the reliability that the settings give a model, or the configured one; None leaves it to the policy."""
    try:
        return choice_of(spec or settings.MODEL).entry.reliability
    except UnknownProvider:
        return None


def problem_with(spec: str) -> str:
    """Return why a model can't be called; empty if it can, judging from the settings."""
    try:
        missing = choice_of(spec).missing_key
    except UnknownProvider as error:
        return str(error)
    return f"{spec!r} needs {missing}" if missing else ""
