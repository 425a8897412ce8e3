"""Errors of providers, and repeated calls after those that pass; a permanent error is not worth another try."""

import math
import random
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from apps.common.errors import ProviderError
from apps.pipeline.core.model_calls import FailureKind, ModelFailed


def retry_after_seconds(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Return the wait in seconds that an answer asks for, as a number or a date; None if it names none."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1_000
    header = headers.get("retry-after", "")
    seconds = _number(header)
    if seconds is not None:
        return seconds
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    in_utc = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (in_utc - (now or datetime.now(UTC))).total_seconds())


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


Answer = TypeVar("Answer")

MOST_TRIES = 3
FIRST_WAIT = 0.5  # seconds; doubled before each further try
LONGEST_WAIT = 8.0  # seconds; a longer wait that a server asks for is left to the queue, which holds no thread


def retried(send: Callable[[float], Answer], *, seconds: float, failures: tuple[type[Exception], ...]) -> Answer:
    """Call `send` with the remaining seconds, up to three times within `seconds`. Raises its last failure."""
    deadline = time.monotonic() + seconds
    for tries in range(1, MOST_TRIES):
        try:
            return send(deadline - time.monotonic())
        except failures as error:
            response = getattr(error, "response", None)
            headers: Mapping[str, str] = response.headers if response is not None else {}
            status = status_of(error)
            is_over = is_permanent(status) or (status is not None and status < 400)
            wait = retry_after_seconds(headers)
            if wait is None:
                wait = FIRST_WAIT * 2 ** (tries - 1) * random.uniform(0.75, 1.0)  # noqa: S311  (jitter)
            # Another try would be pointless now, or the queue is to wait.
            if is_over or headers.get("x-should-retry") == "false" or wait > LONGEST_WAIT:
                raise
            if time.monotonic() + wait >= deadline:
                raise
        # The thread has returned its database connection, and the deadline of the call bounds the wait.
        time.sleep(wait)
    return send(deadline - time.monotonic())


class UnknownProvider(ProviderError):
    """No provider has that name."""

    permanent = True


class ProviderUnavailable(ProviderError):
    """A provider is configured, but what it needs is not installed here."""

    permanent = True


class NoAnswer(ProviderError):
    """A server sent an error in place of an answer.

    With status 200 gateways do so when the server behind them is out of order: `status_code` is the status that the
    error names then, or 502 (bad gateway).
    """

    def __init__(self, message: str, *, status_code: int, response: Any) -> None:
        super().__init__(message, kind=kind_of(status_code))
        self.status_code = status_code
        self.response = response


class RequestRefused(NoAnswer):
    """A server answered 400 or 422: it takes something of the request for invalid."""


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
    """Return the failure of a call by what was raised."""
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
    """Return the text of an error, with the cause of a lost connection, which messages omit."""
    cause = error.__cause__
    reason = f" ({cause})" if cause is not None and str(cause) and str(cause) not in str(error) else ""
    text = f"{type(error).__name__}: {error}{reason}"
    return (text.replace(secret, "***") if secret else text)[:1_000]  # the server may have echoed the key
