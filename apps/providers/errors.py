"""What can go wrong with a provider; a permanent error is not worth another try."""


class ProviderError(Exception):
    """A model or embedder did not answer."""

    permanent = False


class UnknownProvider(ProviderError):
    """No provider has that name."""

    permanent = True


class ProviderUnavailable(ProviderError):
    """A provider is configured, but what it needs is not installed here."""

    permanent = True


# Worth another try: time-outs, conflicts, too many requests; and every 5xx.
_PASSING = frozenset({408, 409, 425, 429})


def is_permanent(status: int | None) -> bool:
    """Tell whether an HTTP status will be the same tomorrow; None is a lost connection."""
    return status is not None and 400 <= status < 500 and status not in _PASSING


def without_secret(text: str, *, secret: str) -> str:
    """Return an error's text, cut, and without the key that a server may have echoed."""
    return (text.replace(secret, "***") if secret else text)[:1_000]
