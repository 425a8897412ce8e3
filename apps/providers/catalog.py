"""The list of providers. To add one: write its file, and describe it here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from django.conf import settings
from django.utils.module_loading import import_string

from apps.pipeline.core.ports import Embedder, Model
from apps.providers.fake import HashingEmbedder
from apps.providers.recorded import RecordedModel, recorded_names
from apps.providers.sentence_transformers import SentenceTransformersEmbedder


@dataclass(frozen=True, slots=True)
class Server:
    """An address with its key; an empty address means the vendor's."""

    base_url: str = ""
    api_key: str = field(default="", repr=False)

    def or_else(self, other: "Server") -> "Server":
        """Return this server if it has an address or key, otherwise the other: keys go to their own server only."""
        return self if self.base_url or self.api_key else other


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Settings of a client of one model; `timeout` of one try in seconds."""

    name: str
    server: Server
    timeout: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider; an empty setting is not needed.

    The factories of vendors import what they need: loading an SDK takes a second in every process and command. Only
    the SDK of the configured provider is loaded.
    """

    name: str  # the part before the colon of "provider:name"
    model: Callable[[ModelSettings], Model] | None = None
    models: Callable[[], Sequence[str]] | None = None  # the names of its models; None: its server knows them
    embedder: Callable[[str], Embedder] | None = None  # parameter: the part after the colon
    embedder_server: Callable[[], Server] | None = None  # None: its embedder is local
    key_setting: str = ""
    base_url_setting: str = ""
    needs_no_key_elsewhere: bool = False  # whether servers other than the vendor's may do without a key
    # If the cached part of prompts is marked: the minimum of cached tokens, by the beginning of the model's name.
    least_cacheable_tokens: Mapping[str, int] = field(default_factory=dict)

    @property
    def server(self) -> Server:
        """Return the server in the provider's settings."""
        return Server(
            base_url=getattr(settings, self.base_url_setting) if self.base_url_setting else "",
            api_key=getattr(settings, self.key_setting) if self.key_setting else "",
        )

    def has_key(self, server: Server) -> bool:
        """Return True if a server has its key, or needs none."""
        return bool(not self.key_setting or server.api_key or (self.needs_no_key_elsewhere and server.base_url))


def _model_of_vendor(path: str, given: ModelSettings) -> Model:
    model: Model = import_string(path)(
        name=given.name,
        api_key=given.server.api_key,
        base_url=given.server.base_url,
        timeout=given.timeout,
        connections=settings.MODEL_CONCURRENCY,
    )
    return model


def _openai_embedder_server() -> Server:
    own = Server(base_url=settings.EMBEDDER_BASE_URL, api_key=settings.EMBEDDER_API_KEY)
    return own.or_else(Server(base_url=settings.OPENAI_BASE_URL, api_key=settings.OPENAI_API_KEY))


def _openai_embedder(name: str) -> Embedder:
    from apps.providers.openai_compatible import OpenAICompatibleEmbedder

    server = _openai_embedder_server()
    return OpenAICompatibleEmbedder(
        name=name,
        dimension=settings.EMBEDDER_DIMENSION,
        api_key=server.api_key,
        base_url=server.base_url,
        timeout=settings.MODEL_TIMEOUT_SECONDS,
    )


PROVIDERS = (
    Provider(
        name="anthropic",
        model=partial(_model_of_vendor, "apps.providers.anthropic.AnthropicModel"),
        key_setting="ANTHROPIC_API_KEY",
        base_url_setting="ANTHROPIC_BASE_URL",
        # A shorter prefix is silently not cached: https://platform.claude.com/docs/en/build-with-claude/prompt-caching
        least_cacheable_tokens={"claude-haiku-4-5": 4_096, "claude-opus-4-5": 4_096, "claude-sonnet-4-5": 1_024},
    ),
    Provider(
        name="openai",
        model=partial(_model_of_vendor, "apps.providers.openai_compatible.OpenAICompatibleModel"),
        embedder=_openai_embedder,
        embedder_server=_openai_embedder_server,
        key_setting="OPENAI_API_KEY",
        base_url_setting="OPENAI_BASE_URL",
        needs_no_key_elsewhere=True,
    ),
    Provider(name="recorded", model=lambda given: RecordedModel(conversation=given.name), models=recorded_names),
    Provider(name="sentence-transformers", embedder=lambda name: SentenceTransformersEmbedder(name=name)),
    Provider(name="wordllama", embedder=lambda _: import_string("apps.providers.wordllama.WordLlamaEmbedder")()),
    Provider(name="hashing", embedder=lambda _: HashingEmbedder()),
)
BY_NAME = {provider.name: provider for provider in PROVIDERS}


def provider_of(spec: str) -> Provider | None:
    """Return the provider that "provider:name", or "provider" alone, names."""
    return BY_NAME.get(spec.partition(":")[0])
