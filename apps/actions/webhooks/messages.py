"""Messages of webhooks: what they say, how they are signed, and how they are posted."""

import base64
import hashlib
import hmac
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import httpx2
from django.conf import settings
from django.utils import timezone

from apps.events.models import ProjectEvent
from apps.memories.models import Memory
from apps.pipeline.core.enums import Status
from apps.pipeline.core.identifiers import Prefix, show
from apps.providers.guarded_transport import guarded_client
from apps.providers.http import retry_after_seconds
from apps.tenants.models import EndUser

_PREFIX = "whsec_"


_BYTES = 32


def new_secret() -> str:
    """Return a new secret to share with the receiver."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_BYTES)).decode()


def signed_headers(*, secrets: Sequence[str], message_id: str, now: datetime, body: bytes) -> dict[str, str]:
    """Return the headers of a webhook, with one signature for each secret: two while a secret is being replaced.

    A signature is an HMAC-SHA256 of id, time and body, joined by dots. The id stays the same when a message is sent
    again; the time, in seconds, lets receivers refuse old messages.
    """
    seconds = str(int(now.timestamp()))
    signed = b".".join([message_id.encode(), seconds.encode(), body])
    return {
        "webhook-id": message_id,
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(_signature(secret, signed) for secret in secrets),
    }


def _signature(secret: str, signed: bytes) -> str:
    digest = hmac.new(base64.b64decode(secret.removeprefix(_PREFIX)), signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


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


def event_messages(events: Sequence[ProjectEvent], *, includes_content: bool) -> list[dict[str, Any]]:
    """Return the messages about events of one project, in their order, with two queries.

    There is none about an end user who is being erased.
    """
    users = {each.end_user_id for each in events if each.end_user_id is not None}
    names = dict(EndUser.objects.filter(id__in=users).present().values_list("id", "external_id")) if users else {}
    told = [each for each in events if each.end_user_id is None or each.end_user_id in names]
    contents = _contents(told) if includes_content else {}
    return [_message(each, names, contents) for each in told]


def _contents(events: Sequence[ProjectEvent]) -> dict[UUID, str]:
    users = {each.end_user_id for each in events if each.memory_id is not None}
    wanted = {each.memory_id for each in events if each.memory_id is not None}
    told = Memory.objects.filter(end_user_id__in=users, id__in=wanted, status=Status.ACTIVE, private_to="")
    return dict(told.values_list("id", "content")) if wanted else {}


def _message(event: ProjectEvent, names: Mapping[UUID, str], contents: Mapping[UUID, str]) -> dict[str, Any]:
    return {
        "id": event.shown_id,
        "number": event.number,
        "type": event.type,
        "timestamp": event.created_at.isoformat(),
        "data": {**_subject(event, names), **_details(event.details), **_content(event, contents)},
    }


def _subject(event: ProjectEvent, names: Mapping[UUID, str]) -> dict[str, Any]:
    subject: dict[str, Any] = {}
    if event.end_user_id is not None:
        subject["user_id"] = names.get(event.end_user_id) or None
        subject["end_user"] = show(Prefix.END_USER, event.end_user_id)
    if event.memory_id is not None:
        subject["memory_id"] = show(Prefix.MEMORY, event.memory_id)
    if event.trace_id is not None:
        subject["trace_id"] = show(Prefix.TRACE, event.trace_id)
    return subject


def _details(details: Mapping[str, Any]) -> dict[str, Any]:
    shown = {name: value for name, value in details.items() if value is not None and name != "other"}
    if details.get("other"):
        shown["other_memory_id"] = show(Prefix.MEMORY, UUID(details["other"]))
    return shown


def _content(event: ProjectEvent, contents: Mapping[UUID, str]) -> dict[str, str]:
    content = contents.get(event.memory_id) if event.memory_id is not None else None
    return {} if content is None else {"content": content}
