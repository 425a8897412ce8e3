"""The list of providers. To add one: write its file, and describe it here."""

from collections.abc import Sequence

from django.conf import settings

from apps.pipeline.core.ports import Embedder, Model
from apps.providers.provider import ModelSettings, Provider, Server


def _anthropic_model(given: ModelSettings) -> Model:
    from apps.providers.anthropic import AnthropicModel

    return AnthropicModel(
        name=given.name,
        api_key=given.server.api_key,
        base_url=given.server.base_url,
        timeout=given.timeout,
        connections=settings.MODEL_CONCURRENCY,
    )


def _openai_model(given: ModelSettings) -> Model:
    from apps.providers.openai_compatible import OpenAICompatibleModel

    return OpenAICompatibleModel(
        name=given.name,
        api_key=given.server.api_key,
        base_url=given.server.base_url,
        timeout=given.timeout,
        connections=settings.MODEL_CONCURRENCY,
    )


def _recorded_model(given: ModelSettings) -> Model:
    from apps.providers.recorded import RecordedModel

    return RecordedModel(conversation=given.name)


def _recorded_names() -> Sequence[str]:
    from apps.providers.recorded import recorded_names

    return recorded_names()


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


def _sentence_transformers(name: str) -> Embedder:
    from apps.providers.sentence_transformers import SentenceTransformersEmbedder

    return SentenceTransformersEmbedder(name=name)


def _wordllama(name: str) -> Embedder:
    from apps.providers.wordllama import WordLlamaEmbedder

    return WordLlamaEmbedder()


def _hashing(name: str) -> Embedder:
    from apps.providers.fake import HashingEmbedder

    return HashingEmbedder()


PROVIDERS = (
    Provider(
        name="anthropic",
        model=_anthropic_model,
        key_setting="ANTHROPIC_API_KEY",
        base_url_setting="ANTHROPIC_BASE_URL",
        # A shorter prefix is silently not cached: https://platform.claude.com/docs/en/build-with-claude/prompt-caching
        least_cacheable_tokens={"claude-haiku-4-5": 4_096, "claude-opus-4-5": 4_096, "claude-sonnet-4-5": 1_024},
    ),
    Provider(
        name="openai",
        model=_openai_model,
        embedder=_openai_embedder,
        embedder_server=_openai_embedder_server,
        key_setting="OPENAI_API_KEY",
        base_url_setting="OPENAI_BASE_URL",
        needs_no_key_elsewhere=True,
    ),
    Provider(name="recorded", model=_recorded_model, models=_recorded_names),
    Provider(name="sentence-transformers", embedder=_sentence_transformers),
    Provider(name="wordllama", embedder=_wordllama),
    Provider(name="hashing", embedder=_hashing),
)
BY_NAME = {provider.name: provider for provider in PROVIDERS}


def provider_of(spec: str) -> Provider | None:
    """Return the provider that "provider:name", or "provider" alone, names."""
    return BY_NAME.get(spec.partition(":")[0])
