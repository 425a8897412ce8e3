"""Decide whether a failed request is sent again, and when. Nothing is sent or slept here."""

import random
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import time

from memplatform_client.errors import APIError, ConnectionFailed, MemplatformError, RateLimited, ServerError

_STILL_RUNNING = "idempotency_in_progress"


@dataclass(frozen=True, slots=True)
class Retries:
    """How often and how soon a request is sent again.

    Delays are in seconds: `first_delay`, doubled with each attempt, or what the server asks for in Retry-After. A
    request that would have to wait for longer than `longest_delay` fails.
    """

    attempts: int = 4
    first_delay: float = 0.5
    longest_delay: float = 30.0

    def delay(self, *, attempt: int, error: MemplatformError, may_repeat: bool) -> float | None:
        """Return how long to wait before the next attempt; None if there is none. The first attempt is number 1.

        What must not be done twice is sent again only if the server did not begin with it.
        """
        if attempt >= self.attempts or not _is_passing(error, may_repeat=may_repeat):
            return None
        own = self.first_delay * 2 ** (attempt - 1) * random.uniform(0.8, 1.2)  # noqa: S311  (not for secrets)
        asked = error.retry_after if isinstance(error, APIError) else None
        delay = own if asked is None else asked
        return None if delay > self.longest_delay else delay


def _is_passing(error: MemplatformError, *, may_repeat: bool) -> bool:
    if isinstance(error, RateLimited):
        return True
    if isinstance(error, ServerError | ConnectionFailed):
        return may_repeat
    return isinstance(error, APIError) and error.code == _STILL_RUNNING


def seconds_of(retry_after: str | None) -> float | None:
    """Return the seconds of a Retry-After header, which holds seconds or a date; None without a usable one."""
    if not retry_after:
        return None
    if retry_after.isdecimal():
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time())
    except ValueError:
        return None
