"""Which models can be asked: what "provider:name" needs before a call is worth making."""

from django.conf import settings

# A shorter prefix is silently never cached (https://platform.claude.com/docs/en/build-with-claude/prompt-caching).
LEAST_CACHEABLE_TOKENS = {"claude-haiku-4-5": 4_096, "claude-opus-4-5": 4_096, "claude-sonnet-4-5": 1_024}
_KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}


def names_a_model(spec: str) -> bool:
    """Tell whether a text is "provider:name" of a provider that there is."""
    provider, _, name = spec.partition(":")
    return provider in _KEYS and bool(name)


def missing_key(spec: str) -> str:
    """Return the setting that a model needs and that is empty; a compatible server of one's own needs none."""
    provider = spec.partition(":")[0]
    if getattr(settings, _KEYS[provider]) or (provider == "openai" and settings.OPENAI_BASE_URL):
        return ""
    return _KEYS[provider]


def problem_with(spec: str) -> str:
    """Say why a model can't be asked; nothing where it can, as far as settings tell."""
    if not names_a_model(spec):
        return f"{spec!r} names no model: write {' or '.join(f'{provider}:…' for provider in _KEYS)}"
    key = missing_key(spec)
    return f"{spec!r} needs {key}" if key else ""
