"""Redis as the broker of scheduled tasks, asked for no longer than a moment."""

from typing import Any

import redis
from django.conf import settings
from django_q.brokers.redis_broker import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

CONNECT_SECONDS = 1.0
ANSWER_SECONDS = 3.0  # more than the second for which django-q2 waits for a task


class RedisBroker(Redis):
    """django-q2's broker, without a second try: a request must not wait for a Redis that hangs.

    Parameters in REDIS_URL take precedence, such as `?socket_timeout=10`.
    """

    @staticmethod
    def get_connection(list_key: str | None = None) -> Any:
        """Return a client; it connects with its first command."""
        return redis.from_url(
            settings.REDIS_URL,
            socket_connect_timeout=CONNECT_SECONDS,
            socket_timeout=ANSWER_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
