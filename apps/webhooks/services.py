"""Create, change and delete webhooks, replace their secrets, and read the log of events."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import msgspec
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from apps.common.errors import Conflict, Unfit
from apps.common.rows import get_or_refuse
from apps.events.enums import EventType
from apps.events.models import WEBHOOK_NAME_LENGTH, WEBHOOK_URL_LENGTH, EventLog, ProjectEvent, Webhook
from apps.memories.ledger.actor import current_actor
from apps.memories.ledger.record import record
from apps.pipeline.core.input_validation import BadInput, cleaned_text
from apps.providers.outbound import ForbiddenAddress, refuse_named_address
from apps.tenants.models import Project
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.webhooks.messages import event_messages, new_secret

AT_ONCE = 100  # events of one stream in one answer


def set_event_log(*, project_id: UUID, is_on: bool) -> EventLog:
    """Record events from now on, or none any more. Raises Conflict for switching off while there are webhooks."""
    with transaction.atomic():
        logs = EventLog.objects.select_for_update(no_key=True)
        log, _ = logs.get_or_create(project_id=project_id, defaults={"is_on": False})
        if not is_on and Webhook.objects.filter(project_id=project_id).exists():
            raise Conflict("the project has webhooks, which need its events")
        if log.is_on != is_on:
            log.is_on = is_on
            log.save(update_fields=["is_on"])
            verb = "events_switched_on" if is_on else "events_switched_off"
            record(verb, "project", project_id, project_id=project_id)
    return log


@dataclass(frozen=True, slots=True)
class EventPosition:
    """What one caller reads, and the number of the last event that it has."""

    project_id: UUID
    after: int
    types: tuple[EventType, ...] = ()  # empty: all
    includes_content: bool = False


def read_on(position: EventPosition, *, limit: int, last: int) -> tuple[list[dict[str, Any]], int]:
    """Return the next events, and the number to read on from: up to it, there are no others.

    `last` is the project's last number as it was before they were read: more may have been numbered in between.
    """
    events = ProjectEvent.objects.filter(project_id=position.project_id, number__gt=position.after)
    if position.types:
        events = events.filter(type__in=position.types)
    found = list(events.order_by("number")[:limit])
    newest = (found[-1].number or 0) if found else 0
    reached = newest if len(found) >= limit else max(position.after, last, newest)
    return event_messages(found, includes_content=position.includes_content), reached


def read_streams(positions: AbstractSet[EventPosition]) -> dict[EventPosition, tuple[bytes, int]]:
    """Return the next part of each stream whose project has newer events, and the number to read on from.

    One query asks for all streams whether there is anything; who has all of it costs no other. A part is text as
    https://html.spec.whatwg.org/multipage/server-sent-events.html has it, empty for events of no wanted type.
    """
    with system_scope(SystemWork.WAITING_CALLERS):
        logs = EventLog.objects.filter(project_id__in={each.project_id for each in positions})
        last = dict(logs.values_list("project_id", "last_number"))
    parts = {}
    for position in positions:
        if last.get(position.project_id, 0) > position.after:
            with tenant_scope(project_id=position.project_id):
                messages, reached = read_on(position, limit=AT_ONCE, last=last[position.project_id])
            frames = (
                f"id: {each['number']}\nevent: {each['type']}\ndata: ".encode() + msgspec.json.encode(each)
                for each in messages
            )
            parts[position] = b"".join(each + b"\n\n" for each in frames), reached
    return parts


MOST_WEBHOOKS = 20  # of a project: each event is delivered to all that want it
OVERLAP = timedelta(hours=24)


def lock_webhook(*, project_id: UUID, webhook_id: UUID) -> Webhook:
    """Return a webhook of the project, locked until the transaction ends. Raises NotFound."""
    webhooks = Webhook.objects.select_for_update()
    return get_or_refuse(webhooks.filter(project_id=project_id, id=webhook_id), "webhook")


def checked_url(url: str, *, at: str) -> str:
    """Return the address of a webhook. Raises Unfit."""
    if len(url) > WEBHOOK_URL_LENGTH or not url.isprintable() or " " in url:
        raise Unfit(f"must be an address of at most {WEBHOOK_URL_LENGTH} characters, without spaces", at=at)
    try:
        parts = urlsplit(url)
        host, is_complete = parts.hostname or "", bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        raise Unfit("is no valid address", at=at) from error
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise Unfit("must contain no user, password or fragment", at=at)
    private = {each.strip("[]").lower() for each in settings.WEBHOOK_PRIVATE_HOSTS}
    if not is_complete or parts.scheme not in ("https", "http") or (parts.scheme == "http" and host not in private):
        raise Unfit("must begin with https://", at=at)
    try:
        refuse_named_address(host, private_hosts=private)
    except ForbiddenAddress as error:
        raise Unfit("must be a public address, or a host of WEBHOOK_PRIVATE_HOSTS", at=at) from error
    return url


def create_webhook(*, project_id: UUID, **fields: Any) -> Webhook:
    """Create a webhook, which is told of what is committed from now on; its secret is shown only now.

    Raises Unfit, and Conflict for a name in use or with too many webhooks.
    """
    webhook = Webhook(project_id=project_id, secret=new_secret(), created_by=current_actor(), **_checked(fields))
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project_id)  # for the count and the name
        if Webhook.objects.filter(project_id=project_id).count() >= MOST_WEBHOOKS:
            raise Conflict(f"the project has {MOST_WEBHOOKS} webhooks already")
        set_event_log(project_id=project_id, is_on=True)
        details = {"event_types": webhook.event_types, "includes_content": webhook.includes_content}
        _save(webhook, "webhook_created", details)
    return webhook


def update_webhook(*, project_id: UUID, webhook_id: UUID, is_paused: bool | None = None, **fields: Any) -> Webhook:
    """Change fields that are given, not None; pause or resume. Raises NotFound, Unfit, Conflict for a name in use.

    What waits for a paused webhook is kept, and sent once it is resumed, up to three days after it was due.
    """
    with transaction.atomic():
        webhook = lock_webhook(project_id=project_id, webhook_id=webhook_id)
        given = _checked(fields)
        wanted = given if is_paused is None else {**given, "is_paused": is_paused}
        changed = sorted(name for name, value in wanted.items() if value != getattr(webhook, name))
        if not changed:
            return webhook
        for name, value in given.items():
            setattr(webhook, name, value)
        verb = "webhook_changed"
        if "is_paused" in changed:
            verb = "webhook_paused" if is_paused else "webhook_resumed"
            webhook.paused_at, webhook.paused_by = (timezone.now(), current_actor()) if is_paused else (None, "")
            webhook.pause_reason = ""
        if "url" in changed or verb == "webhook_resumed":  # the failures were those of another address or time
            webhook.failures, webhook.failing_since, webhook.resume_at = 0, None, timezone.now()
        told = {"includes_content": webhook.includes_content} if "includes_content" in changed else {}
        _save(webhook, verb, {"fields": changed, **told})
    return webhook


def _checked(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are given, not None, as they are stored. Raises Unfit."""
    checked = {name: value for name, value in fields.items() if value is not None}
    if "name" in checked:
        try:
            checked["name"] = " ".join(cleaned_text(checked["name"], at="/name", most=WEBHOOK_NAME_LENGTH).split())
        except BadInput as error:
            raise Unfit(str(error), at=error.at) from error
    if "url" in checked:
        checked["url"] = checked_url(checked["url"].strip(), at="/url")
    if "event_types" in checked:
        checked["event_types"] = [each.value for each in EventType if each in checked["event_types"]]
    return checked


def _save(webhook: Webhook, verb: str, details: Mapping[str, Any]) -> None:
    others = Webhook.objects.filter(project_id=webhook.project_id, name=webhook.name).exclude(id=webhook.id)
    if others.exists():
        raise Conflict("another webhook of the project has this name")
    webhook.save()
    record(verb, "webhook", webhook.id, project_id=webhook.project_id, details=details)


def rotate_secret(*, project_id: UUID, webhook_id: UUID, ends_at_once: bool = False) -> Webhook:
    """Make a new secret, which is shown only now, and return the webhook. Raises NotFound.

    The former one goes on for OVERLAP, so that the receiver can be changed meanwhile; not with `ends_at_once`, for a
    secret that has become known.
    """
    with transaction.atomic():
        webhook = lock_webhook(project_id=project_id, webhook_id=webhook_id)
        overlaps = bool(webhook.secret) and not ends_at_once
        webhook.former_secret = webhook.secret if overlaps else ""
        webhook.former_secret_until = timezone.now() + OVERLAP if overlaps else None
        webhook.secret = new_secret()
        _save(webhook, "webhook_rotated", {"overlap_hours": OVERLAP // timedelta(hours=1) if overlaps else 0})
    return webhook


def delete_webhook(*, project_id: UUID, webhook_id: UUID) -> None:
    """Delete a webhook and the log of its deliveries; what waits is not sent. Raises NotFound."""
    with transaction.atomic():
        webhook = lock_webhook(project_id=project_id, webhook_id=webhook_id)
        record("webhook_deleted", "webhook", webhook.id, project_id=project_id)
        webhook.delete()
