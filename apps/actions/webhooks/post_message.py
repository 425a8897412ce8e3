"""Post one signed message to a receiver: an allowed address, resolved once, no redirects, limits of size and time."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import httpx2
from django.conf import settings
from django.utils import timezone

from apps.actions.webhooks.webhook_signature import signed_headers
from apps.providers.guarded_transport import guarded_client
from apps.providers.http import retry_after_seconds

GONE = 410  # the receiver wants no message any more, as the standard has it


@dataclass(frozen=True, slots=True)
class PostOutcome:
    """What came of a post; without `error` the receiver has taken the message. `retry_after` is in seconds."""

    duration_ms: int
    status: int | None = None
    error: str = ""
    retry_after: float | None = None


def webhook_client() -> httpx2.Client:
    """Return a client for receivers of webhooks."""
    return guarded_client(
        timeout=settings.WEBHOOK_TIMEOUT_SECONDS, connections=1, private_hosts=settings.WEBHOOK_PRIVATE_HOSTS
    )


def post_message(
    client: httpx2.Client, *, url: str, body: bytes, message_id: str, secrets: Sequence[str]
) -> PostOutcome:
    """Post a JSON body, signed with each of the secrets. Whatever the receiver does is an outcome, and no error."""
    signed = signed_headers(secrets=secrets, message_id=message_id, now=timezone.now(), body=body)
    started = time.monotonic()
    try:
        answer = client.post(url, content=body, headers={"Content-Type": "application/json", **signed})
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        return PostOutcome(_since(started), error=f"{type(error).__name__}: {error}"[:300])
    return PostOutcome(
        _since(started), answer.status_code, _problem(answer), retry_after=retry_after_seconds(answer.headers)
    )


def _problem(answer: httpx2.Response) -> str:
    if answer.is_redirect:
        return f"HTTP {answer.status_code}: redirects are not followed"
    return "" if answer.is_success else f"HTTP {answer.status_code}"


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1_000)
