"""Create, change, test and delete webhooks, and read their rows."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit
from uuid import UUID

import msgspec
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from apps.actions.errors import Conflict, NotFound, Unfit
from apps.actions.ledger.actor import current_actor
from apps.actions.ledger.record import record
from apps.actions.webhooks.messages import event_messages, new_secret
from apps.events.enums import EventType
from apps.events.models import WEBHOOK_NAME_LENGTH, WEBHOOK_URL_LENGTH, EventLog, Webhook
from apps.events.read import StreamPart, StreamPosition, events_after, last_numbers, reached
from apps.pipeline.core.input_validation import BadInput, cleaned_text
from apps.tenants.models import Project
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope


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
    return url


MOST_WEBHOOKS = 20  # of a project: each event is delivered to all that want it


def held_webhook(*, project_id: UUID, webhook_id: UUID, is_deleted: bool = False) -> Webhook:
    """Return a webhook of the project and lock it until the transaction ends. Raises NotFound.

    With `is_deleted` nobody else can create deliveries of it meanwhile.
    """
    webhooks = Webhook.objects.select_for_update(no_key=not is_deleted)
    webhook = webhooks.filter(project_id=project_id, id=webhook_id).first()
    if webhook is None:
        raise NotFound("there is no such webhook")
    return webhook


def checked_webhook_name(name: str) -> str:
    """Return the name of a webhook without needless characters. Raises Unfit."""
    try:
        return " ".join(cleaned_text(name, at="/name", most=WEBHOOK_NAME_LENGTH).split())
    except BadInput as error:
        raise Unfit(str(error), at=error.at) from error


def checked_types(types: Sequence[EventType]) -> list[str]:
    """Return types of events, each once, in the order of the enum. Raises Unfit if there is none."""
    if not types:
        raise Unfit("must name at least one type of event", at="/events")
    return [each.value for each in EventType if each in types]


@dataclass(frozen=True, slots=True)
class WebhookSecret:
    """A webhook with a secret that was just made, and is shown only once."""

    webhook: Webhook
    secret: str


def create_webhook(
    *, project_id: UUID, name: str, url: str, event_types: Sequence[EventType], includes_content: bool = False
) -> WebhookSecret:
    """Create a webhook, which is told of what is committed from now on.

    Raises Unfit, and Conflict for a name in use or with too many webhooks.
    """
    secret = new_secret()
    webhook = Webhook(
        project_id=project_id,
        name=checked_webhook_name(name),
        url=checked_url(url.strip(), at="/url"),
        event_types=checked_types(event_types),
        includes_content=includes_content,
        secret=secret,
        created_by=current_actor(),
    )
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project_id)  # for the count and the name
        others = Webhook.objects.filter(project_id=project_id)
        if others.count() >= MOST_WEBHOOKS:
            raise Conflict(f"the project has {MOST_WEBHOOKS} webhooks already")
        if others.filter(name=webhook.name).exists():
            raise Conflict("another webhook of the project has this name")
        switch_log(project_id=project_id, is_on=True)
        webhook.save(force_insert=True)
        record(
            project_id=project_id,
            verb="webhook_created",
            object_kind="webhook",
            object_id=webhook.id,
            details={"event_types": webhook.event_types, "includes_content": includes_content},
        )
    return WebhookSecret(webhook, secret)


@dataclass(frozen=True, slots=True)
class WebhookChange:
    """New values of a webhook; None leaves a value as it is."""

    name: str | None = None
    url: str | None = None
    event_types: Sequence[EventType] | None = None
    includes_content: bool | None = None
    is_paused: bool | None = None


def update_webhook(*, project_id: UUID, webhook_id: UUID, change: WebhookChange) -> Webhook:
    """Change a webhook and return it. Raises NotFound, Unfit, Conflict for a name in use.

    What waits for a paused webhook is kept, and sent once it is resumed, up to three days after it was due.
    """
    with transaction.atomic():
        webhook = held_webhook(project_id=project_id, webhook_id=webhook_id)
        before = _values(webhook)
        _apply(webhook, change)
        changed = sorted(name for name, value in _values(webhook).items() if value != before[name])
        if changed:
            _check_name(webhook)
            webhook.save()
            record(
                project_id=project_id,
                verb=_verb(webhook, changed),
                object_kind="webhook",
                object_id=webhook.id,
                details=_details(webhook, changed),
            )
    return webhook


def _values(webhook: Webhook) -> dict[str, object]:
    is_paused = webhook.paused_at is not None
    return {
        "name": webhook.name,
        "url": webhook.url,
        "event_types": webhook.event_types,
        "includes_content": webhook.includes_content,
        "is_paused": is_paused,
    }


def _apply(webhook: Webhook, change: WebhookChange) -> None:
    if change.name is not None:
        webhook.name = checked_webhook_name(change.name)
    if change.url is not None and change.url.strip() != webhook.url:
        webhook.url = checked_url(change.url.strip(), at="/url")
        _forget_failures(webhook)
    if change.event_types is not None:
        webhook.event_types = checked_types(change.event_types)
    if change.includes_content is not None:
        webhook.includes_content = change.includes_content
    if change.is_paused is True and webhook.paused_at is None:
        webhook.paused_at, webhook.paused_by = timezone.now(), current_actor()
    if change.is_paused is False and webhook.paused_at is not None:
        webhook.paused_at, webhook.paused_by, webhook.pause_reason = None, "", ""
        _forget_failures(webhook)


def _forget_failures(webhook: Webhook) -> None:
    webhook.failures, webhook.failing_since, webhook.resume_at = 0, None, timezone.now()


def _check_name(webhook: Webhook) -> None:
    others = Webhook.objects.filter(project_id=webhook.project_id, name=webhook.name).exclude(id=webhook.id)
    if others.exists():
        raise Conflict("another webhook of the project has this name")


def _details(webhook: Webhook, changed: Sequence[str]) -> dict[str, object]:
    """Return what the ledger tells: the names of the fields, and whether sentences are sent from now on."""
    told: dict[str, object] = {"fields": list(changed)}
    if "includes_content" in changed:
        told["includes_content"] = webhook.includes_content
    return told


def _verb(webhook: Webhook, changed: Sequence[str]) -> str:
    if "is_paused" not in changed:
        return "webhook_changed"
    return "webhook_resumed" if webhook.paused_at is None else "webhook_paused"


OVERLAP = timedelta(hours=24)


def rotate_secret(*, project_id: UUID, webhook_id: UUID, ends_at_once: bool = False) -> WebhookSecret:
    """Make a new secret and return it. Raises NotFound.

    The former one goes on for OVERLAP, so that the receiver can be changed meanwhile; not with `ends_at_once`, for a
    secret that has become known.
    """
    secret = new_secret()
    with transaction.atomic():
        webhook = held_webhook(project_id=project_id, webhook_id=webhook_id)
        overlaps = bool(webhook.secret) and not ends_at_once
        webhook.former_secret = webhook.secret if overlaps else ""
        webhook.former_secret_until = timezone.now() + OVERLAP if overlaps else None
        webhook.secret = secret
        webhook.save(update_fields=["secret", "former_secret", "former_secret_until"])
        record(
            project_id=project_id,
            verb="webhook_rotated",
            object_kind="webhook",
            object_id=webhook.id,
            details={"overlap_hours": OVERLAP // timedelta(hours=1) if overlaps else 0},
        )
    return WebhookSecret(webhook, secret)


def delete_webhook(*, project_id: UUID, webhook_id: UUID) -> None:
    """Delete a webhook and the log of its deliveries; what waits is not sent. Raises NotFound."""
    with transaction.atomic():
        webhook = held_webhook(project_id=project_id, webhook_id=webhook_id, is_deleted=True)
        record(project_id=project_id, verb="webhook_deleted", object_kind="webhook", object_id=webhook.id)
        webhook.delete()


def set_event_log(*, project_id: UUID, is_on: bool) -> EventLog:
    """Record events from now on, or none any more. Raises Conflict for switching off while there are webhooks."""
    with transaction.atomic():
        log = switch_log(project_id=project_id, is_on=is_on)
        if not is_on and Webhook.objects.filter(project_id=project_id).exists():
            raise Conflict("the project has webhooks, which need its events")
    return log


def switch_log(*, project_id: UUID, is_on: bool) -> EventLog:
    """Switch in the caller's transaction; a change is an entry of the ledger."""
    EventLog.objects.bulk_create([EventLog(project_id=project_id, is_on=False)], ignore_conflicts=True)
    log = EventLog.objects.select_for_update(no_key=True).get(project_id=project_id)
    if log.is_on != is_on:
        log.is_on, log.changed_at = is_on, timezone.now()
        log.save(update_fields=["is_on", "changed_at"])
        verb = "events_switched_on" if is_on else "events_switched_off"
        record(project_id=project_id, verb=verb, object_kind="project", object_id=project_id)
    return log


AT_ONCE = 100  # events of one stream in one answer


def read_streams(positions: AbstractSet[StreamPosition]) -> dict[StreamPosition, StreamPart]:
    """Return the next part of each stream whose project has newer events.

    One query asks for all streams whether there is anything; who has all of it costs no other.
    """
    with system_scope(SystemWork.WAITING_CALLERS):
        last = last_numbers(project_ids={each.project_id for each in positions})
    behind = [each for each in positions if last.get(each.project_id, 0) > each.after]
    return {each: _next_part(each, last=last[each.project_id]) for each in behind}


def _next_part(position: StreamPosition, *, last: int) -> StreamPart:
    with tenant_scope(project_id=position.project_id):
        events = events_after(project_id=position.project_id, after=position.after, types=position.types, limit=AT_ONCE)
        messages = event_messages(events, includes_content=position.includes_content)
    text = b"".join(_frame(each["number"], each["type"], msgspec.json.encode(each)) for each in messages)
    return StreamPart(text=text, last=reached(events, limit=AT_ONCE, after=position.after, last=last))


def _frame(number: int, type_: str, data: bytes) -> bytes:
    """Return one event as https://html.spec.whatwg.org/multipage/server-sent-events.html has it."""
    return f"id: {number}\nevent: {type_}\ndata: ".encode() + data + b"\n\n"
