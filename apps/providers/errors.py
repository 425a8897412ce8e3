"""Errors of providers; a permanent error is not worth another try."""

from typing import Any

from apps.common.errors import ProviderError
from apps.pipeline.core.model_calls import FailureKind, ModelFailed
from apps.providers.http import retry_after_seconds


class UnknownProvider(ProviderError):
    """No provider has that name."""

    permanent = True


class ProviderUnavailable(ProviderError):
    """A provider is configured, but what it needs is not installed here."""

    permanent = True


class NoAnswer(ProviderError):
    """A server sent an error or a page with status 200, in place of an answer.

    Gateways do so when the server behind them is out of order. `status_code` is the status that the error names, or
    502 (bad gateway).
    """

    def __init__(self, message: str, *, status_code: int, response: Any) -> None:
        super().__init__(message, kind=kind_of(status_code))
        self.status_code = status_code
        self.response = response


# Worth another try: time-outs, conflicts, too many requests; and every 5xx.
_TEMPORARY = frozenset({408, 409, 425, 429})
# These don't depend on the request: no valid key, no credit left, no permission, no such model or address.
_CONFIGURATION = frozenset({401, 402, 403, 404})


def is_permanent(status: int | None) -> bool:
    """Return True if a repeated request would get the same HTTP status; None is a lost connection."""
    return status is not None and 400 <= status < 500 and status not in _TEMPORARY


def kind_of(status: int | None) -> FailureKind:
    """Return the kind of failure for an HTTP status other than 2xx; None is a lost connection."""
    return FailureKind.REFUSED if is_permanent(status) and status not in _CONFIGURATION else FailureKind.UNAVAILABLE


def model_failed(
    error: Exception, *, secret: str, model: str, is_timeout: bool = False, latency_us: int = 0
) -> ModelFailed:
    """Return the failure of a call by what its SDK raised, or by NoAnswer."""
    status, response = status_of(error), getattr(error, "response", None)
    return ModelFailed(
        described(error, secret=secret),
        permanent=is_permanent(status),
        kind=kind_of(status),
        retry_after_seconds=retry_after_seconds(response.headers) if response is not None else None,
        is_timeout=is_timeout,
        model=model,
        latency_us=latency_us,
    )


def status_of(error: Exception) -> int | None:
    """Return the HTTP status of a failed call; None is a lost connection."""
    status: int | None = getattr(error, "status_code", None)
    return status


def described(error: Exception, *, secret: str) -> str:
    """Return the text of an error, with the cause of a lost connection, which the SDKs omit from their message."""
    cause = error.__cause__
    reason = f" ({cause})" if cause is not None and str(cause) and str(cause) not in str(error) else ""
    return without_secret(f"{type(error).__name__}: {error}{reason}", secret=secret)


def without_secret(text: str, *, secret: str) -> str:
    """Return an error's text, truncated, and without a key that the server may have echoed."""
    return (text.replace(secret, "***") if secret else text)[:1_000]
