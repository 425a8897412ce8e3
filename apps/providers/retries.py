"""Repeat a call that failed temporarily, within the time that one call may take in total."""

import random
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from apps.providers.errors import is_permanent, status_of
from apps.providers.http import retry_after_seconds

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
            wait = _wait_after(error, tries=tries)
            if wait is None or time.monotonic() + wait >= deadline:
                raise
        # The SDKs are synchronous. The thread has returned its database connection, and the deadline of the call bounds
        # the wait.
        time.sleep(wait)
    return send(deadline - time.monotonic())


def _wait_after(error: Exception, *, tries: int) -> float | None:
    """Return the seconds to wait before another try; None if another try would be pointless now."""
    response = getattr(error, "response", None)
    headers: Mapping[str, str] = response.headers if response is not None else {}
    status = status_of(error)
    is_over = is_permanent(status) or (status is not None and status < 400)
    if is_over or headers.get("x-should-retry") == "false":
        return None
    asked = retry_after_seconds(headers)
    wait = FIRST_WAIT * 2 ** (tries - 1) * random.uniform(0.75, 1.0) if asked is None else asked  # noqa: S311  (jitter)
    return wait if wait <= LONGEST_WAIT else None
