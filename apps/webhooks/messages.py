"""Messages of webhooks: what they say, how they are signed, and how they are posted."""

import base64
import hmac
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from secrets import token_bytes
from typing import Any
from uuid import UUID

import httpx2
import msgspec
from django.conf import settings
from django.utils import timezone

from apps.events.models import ProjectEvent
from apps.memories.models import Memory
from apps.pipeline.core.enums import Status
from apps.pipeline.core.identifiers import Prefix, show
from apps.providers.errors import retry_after_seconds
from apps.providers.outbound import guarded_client
from apps.tenants.models import EndUser

_PREFIX = "whsec_"


def new_secret() -> str:
    """Return a new secret to share with the receiver."""
    return _PREFIX + base64.b64encode(token_bytes(32)).decode()


def signed_headers(*, secrets: Sequence[str], message_id: str, now: datetime, body: bytes) -> dict[str, str]:
    """Return the headers of a webhook, with one signature for each secret: two while a secret is being replaced.

    A signature is an HMAC-SHA256 of id, time and body, joined by dots. The id stays the same when a message is sent
    again; the time, in seconds, lets receivers refuse old messages.
    """
    seconds = str(int(now.timestamp()))
    signed = b".".join([message_id.encode(), seconds.encode(), body])
    keys = [base64.b64decode(secret.removeprefix(_PREFIX)) for secret in secrets]
    signatures = [base64.b64encode(hmac.digest(key, signed, "sha256")).decode() for key in keys]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(f"v1,{each}" for each in signatures),
    }


UNREADABLE_SECRET = "the secret can't be read: it was encrypted under another SECRET_KEY; rotate it"
GONE = 410  # the receiver wants no message any more, as the standard has it


@dataclass(frozen=True, slots=True)
class PostOutcome:
    """What came of a post; without `error` the receiver has taken the message. `retry_after` is in seconds."""

    duration_ms: int
    status: int | None = None
    error: str = ""
    retry_after: float | None = None


def webhook_client(*, connections: int = 1) -> httpx2.Client:
    """Return a client for receivers of webhooks."""
    return guarded_client(
        timeout=settings.WEBHOOK_TIMEOUT_SECONDS, connections=connections, private_hosts=settings.WEBHOOK_PRIVATE_HOSTS
    )


def post_message(
    client: httpx2.Client, message: Mapping[str, Any], *, message_id: str, url: str, secrets: Sequence[str]
) -> PostOutcome:
    """Post a message as JSON, signed with each of the secrets. Whatever the receiver does is an outcome, no error."""
    if not all(secrets):
        return PostOutcome(duration_ms=0, error=UNREADABLE_SECRET)
    body = msgspec.json.encode(message)
    signed = signed_headers(secrets=secrets, message_id=message_id, now=timezone.now(), body=body)
    started = time.monotonic()
    status, error, retry_after = None, "", None
    try:
        answer = client.post(url, content=body, headers={"Content-Type": "application/json", **signed})
        status, retry_after = answer.status_code, retry_after_seconds(answer.headers)
        if not answer.is_success:
            error = f"HTTP {status}" + (": redirects are not followed" if answer.is_redirect else "")
    except (httpx2.HTTPError, httpx2.InvalidURL) as failure:
        error = f"{type(failure).__name__}: {failure}"[:300]
    return PostOutcome(round((time.monotonic() - started) * 1_000), status, error, retry_after)


def event_messages(events: Sequence[ProjectEvent], *, includes_content: bool) -> list[dict[str, Any]]:
    """Return the messages about events of one project, in their order, with two queries.

    There is none about an end user who is being erased.
    """
    users = {each.end_user_id for each in events if each.end_user_id}
    names = dict(EndUser.objects.filter(id__in=users).present().values_list("id", "external_id"))
    contents: dict[UUID, str] = {}
    if includes_content:
        wanted = {each.memory_id for each in events if each.memory_id}
        shared = Memory.objects.filter(end_user_id__in=names, id__in=wanted, status=Status.ACTIVE, private_to="")
        contents = dict(shared.values_list("id", "content"))
    return [
        {
            "id": event.shown_id,
            "number": event.number,
            "type": event.type,
            "timestamp": event.created_at.isoformat(),
            "data": _data(event, names, contents),
        }
        for event in events
        if event.end_user_id is None or event.end_user_id in names
    ]


def _data(event: ProjectEvent, names: Mapping[UUID, str], contents: Mapping[UUID, str]) -> dict[str, Any]:
    """Return what an event tells: identifiers, states and numbers, and the sentence of its memory if there is one."""
    details = {name: value for name, value in event.details.items() if value is not None}
    other = details.pop("other", None)
    identifiers = {
        "end_user": (Prefix.END_USER, event.end_user_id),
        "memory_id": (Prefix.MEMORY, event.memory_id),
        "trace_id": (Prefix.TRACE, event.trace_id),
        "other_memory_id": (Prefix.MEMORY, other and UUID(other)),
    }
    data: dict[str, Any] = {"user_id": names[event.end_user_id] or None} if event.end_user_id else {}
    data |= {name: show(prefix, identifier) for name, (prefix, identifier) in identifiers.items() if identifier}
    if event.memory_id and event.memory_id in contents:
        data["content"] = contents[event.memory_id]
    return data | details
