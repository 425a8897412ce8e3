"""Deliver events at webhooks: sign, send, note the outcome, and send again."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from threading import Event
from uuid import UUID

import httpx2
import msgspec
import structlog
from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from apps.actions.errors import Conflict, NotFound
from apps.actions.ledger.record import record
from apps.actions.webhooks.messages import GONE, PostOutcome, event_messages, post_message, webhook_client
from apps.actions.webhooks.services import held_webhook
from apps.events.deliveries import (
    FAILURES_BEFORE_REST,
    GIVEN_UP_AFTER,
    claim_webhooks,
    due_deliveries,
    is_to_be_paused,
    rest_after,
    wait_after,
)
from apps.events.enums import DeliveryState
from apps.events.models import Webhook, WebhookDelivery
from apps.events.read import SYSTEM_PAUSE, number_events, projects_with_news
from apps.outbox.queue_task import wake_workers
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope

UNREADABLE_SECRET = "the secret can't be read: it was encrypted under another SECRET_KEY; rotate it"

log = structlog.get_logger(__name__)


def send_delivery(*, webhook: Webhook, delivery_id: UUID, client: httpx2.Client) -> PostOutcome | None:
    """Send a waiting delivery; return the outcome, None if it waits no more: it was erased, or sent by somebody.

    Everything is read again now, so that nothing of an end user is sent who was erased in the meantime.
    """
    waiting = WebhookDelivery.objects.filter(id=delivery_id, webhook=webhook, state=DeliveryState.WAITING)
    delivery = waiting.select_related("event").first()
    if delivery is None or delivery.event is None:
        return None
    secrets = current_secrets(webhook, now=timezone.now())
    if not all(secrets):
        outcome = PostOutcome(duration_ms=0, error=UNREADABLE_SECRET)
        record_outcome(delivery, outcome)
        return outcome
    messages = event_messages([delivery.event], includes_content=webhook.includes_content)
    if not messages:  # its end user is being erased: it is never to be sent
        waiting.delete()
        return None
    release_connection()
    outcome = post_message(
        client,
        url=webhook.url,
        body=msgspec.json.encode(messages[0]),
        message_id=delivery.event.shown_id,
        secrets=secrets,
    )
    record_outcome(delivery, outcome)
    return outcome


def current_secrets(webhook: Webhook, *, now: datetime) -> list[str]:
    """Return the secrets to sign with: the former one, too, while it is being replaced."""
    is_overlapping = webhook.former_secret_until is not None and webhook.former_secret_until > now
    return [webhook.secret, webhook.former_secret] if is_overlapping else [webhook.secret]


def record_outcome(delivery: WebhookDelivery, outcome: PostOutcome) -> None:
    """Record an attempt: delivered, to be tried again, or failed because it was tried for days."""
    now = timezone.now()
    wait = wait_after(delivery.attempts + 1, asked=outcome.retry_after)
    state = _state_after(outcome, is_last=now + wait >= delivery.give_up_at)
    WebhookDelivery.objects.filter(id=delivery.id).update(
        state=state.value,
        attempts=F("attempts") + 1,
        next_try_at=now + (wait if outcome.error else timedelta()),
        response_status=outcome.status,
        duration_ms=outcome.duration_ms,
        last_error=outcome.error,
        finished_at=None if state is DeliveryState.WAITING else now,
    )
    if outcome.error:
        log.warning("a webhook was not delivered", delivery=str(delivery.id), status=outcome.status)


def _state_after(outcome: PostOutcome, *, is_last: bool) -> DeliveryState:
    if not outcome.error:
        return DeliveryState.DELIVERED
    return DeliveryState.FAILED if is_last else DeliveryState.WAITING


def side_by_side(work: Sequence[Callable[[], None]], *, at_once: int) -> None:
    """Do all pieces, each in the scope of the caller; raise what the first failing one raises, once all are done.

    In a transaction they are done one after another: other threads would see nothing of it.
    """
    if len(work) == 1 or connection.in_atomic_block:
        for each in work:
            each()
        return
    release_connection()
    with ThreadPoolExecutor(at_once, thread_name_prefix="side-by-side") as threads:
        running = [threads.submit(copy_context().run, _with_own_connection, each) for each in work]
    for done in running:
        done.result()


def release_connection() -> None:
    """Return this thread's connection to the pool, as it only waits now."""
    if not connection.in_atomic_block:
        connection.close()


def _with_own_connection(piece: Callable[[], None]) -> None:
    try:
        piece()
    finally:
        connection.close()


Stop = Callable[[], bool]  # asked between two deliveries

NOTHING_DUE = timedelta(seconds=1)  # what waits is behind events that are tried again later
USERS_AT_ONCE = 4  # connections to one receiver


@dataclass
class _Slice:
    """What has come of the deliveries of one slice so far; it ends early at a receiver that takes nothing."""

    until: float
    stop: Stop
    is_stopped: Event = field(default_factory=Event)
    delivered: int = 0
    failed: int = 0
    is_gone: bool = False

    def add(self, outcome: PostOutcome) -> None:
        """Count an outcome. Threads may count at once: the numbers decide only when to stop."""
        self.delivered += not outcome.error
        self.failed += bool(outcome.error)
        self.is_gone = self.is_gone or outcome.status == GONE
        if self.is_gone or (not self.delivered and self.failed >= FAILURES_BEFORE_REST):
            self.is_stopped.set()

    def is_over(self) -> bool:
        """Return True if nothing more is to be sent."""
        return self.is_stopped.is_set() or self.stop() or time.monotonic() >= self.until


def deliver_webhook(*, webhook_id: UUID, most: timedelta, stop: Stop) -> int:
    """Send what is due at a webhook that this process has claimed, and give it back; return how many were delivered.

    A delivery is sent at least once: a process that dies between the answer and its record leaves it waiting.
    """
    claimed = Webhook.objects.get(id=webhook_id)
    next_due = partial(due_deliveries, project_id=claimed.project_id, webhook_id=webhook_id)
    slice_ = _Slice(until=time.monotonic() + most.total_seconds(), stop=stop)
    try:
        while not slice_.is_over() and (by_user := next_due()):
            side_by_side([partial(_send_in_order, webhook_id, each, slice_) for each in by_user], at_once=USERS_AT_ONCE)
    finally:
        _give_back(claimed, slice_)
    return slice_.delivered


def _send_in_order(webhook_id: UUID, deliveries: Sequence[UUID], slice_: _Slice) -> None:
    """Send the events of one end user; those after a failed one wait for it.

    The webhook is read for each, so that a pause, another address or another secret holds from the next one on.
    """
    with webhook_client() as client:
        for delivery_id in deliveries:
            if slice_.is_over():
                return
            webhook = Webhook.objects.filter(id=webhook_id, paused_at__isnull=True).first()
            if webhook is None:
                slice_.is_stopped.set()
                return
            outcome = send_delivery(webhook=webhook, delivery_id=delivery_id, client=client)
            if outcome is None:
                continue
            slice_.add(outcome)
            if outcome.error:
                return


def _give_back(claimed: Webhook, slice_: _Slice) -> None:
    """Release the claim and note what came of the slice, unless another process has claimed the webhook since."""
    with transaction.atomic():
        still_claimed = Webhook.objects.filter(id=claimed.id, lease_token=claimed.lease_token)
        webhook = still_claimed.select_for_update(no_key=True).first()
        if webhook is None:
            return
        webhook.leased_until = webhook.lease_token = None
        if webhook.resume_at == claimed.resume_at:  # else it begins anew, with another address or after a pause
            _note_outcome(webhook, slice_)
        webhook.save(
            update_fields=[
                *("leased_until", "lease_token", "failures", "failing_since", "resume_at"),
                *("paused_at", "paused_by", "pause_reason"),
            ]
        )


def _note_outcome(webhook: Webhook, slice_: _Slice) -> None:
    """Let a receiver rest that has taken nothing, and pause its webhook after a day of that."""
    now = timezone.now()
    if slice_.delivered:
        webhook.failures, webhook.failing_since, webhook.resume_at = 0, None, now
    elif slice_.failed:
        webhook.failures += slice_.failed
        webhook.failing_since = webhook.failing_since or now
        webhook.resume_at = now + rest_after(webhook.failures)
    else:
        webhook.resume_at = now + NOTHING_DUE
    if webhook.paused_at is None and (slice_.is_gone or is_to_be_paused(failing_since=webhook.failing_since, now=now)):
        webhook.paused_at, webhook.paused_by = now, SYSTEM_PAUSE
        webhook.pause_reason = _GONE_REASON if slice_.is_gone else _FAILING_REASON
        log.warning("a webhook was paused", webhook=str(webhook.id), reason=webhook.pause_reason)


_GONE_REASON = "the receiver answered that it is gone (HTTP 410)"
_FAILING_REASON = "the receiver has taken nothing for a day"


SLICE = timedelta(seconds=5)  # of one webhook at a time, so that others get their turn
SPARE = timedelta(seconds=15)  # with this and a timeout, a process that has claimed a webhook has died


def number_all_events() -> int:
    """Number the new events of each project; return how many."""
    with system_scope(SystemWork.SCHEDULE):
        projects = projects_with_news()
    numbered = 0
    for project_id in projects:
        try:
            with tenant_scope(project_id=project_id):
                numbered += number_events(project_id=project_id)
        except Exception:  # whatever one project raises, the others get their numbers; this one is tried again
            log.exception("the events of a project could not be numbered", project=str(project_id))
    return numbered


def claim(*, most: int) -> list[tuple[UUID, UUID]]:
    """Claim some webhooks with due deliveries; return each with its project."""
    with system_scope(SystemWork.SCHEDULE):
        return claim_webhooks(most=most, seconds=(SLICE + SPARE).total_seconds() + settings.WEBHOOK_TIMEOUT_SECONDS)


def deliver_claimed(webhook_id: UUID, project_id: UUID, *, stop: Stop = lambda: False) -> int:
    """Deliver at a webhook that this process has claimed; return how many deliveries were taken."""
    try:
        with tenant_scope(project_id=project_id):
            return deliver_webhook(webhook_id=webhook_id, most=SLICE, stop=stop)
    except Exception:  # one webhook that is at fault must not hold up the others
        log.exception("a webhook could not be delivered", webhook=str(webhook_id))
        return 0


TEST_TYPE = "webhook.test"


def send_test(*, project_id: UUID, webhook_id: UUID) -> WebhookDelivery:
    """Send a signed message without any data of end users, once; return it with its outcome. Raises NotFound.

    A paused webhook is tested as well, so that its receiver can be checked before it is resumed.
    """
    webhook = Webhook.objects.filter(project_id=project_id, id=webhook_id).first()
    if webhook is None:
        raise NotFound("there is no such webhook")
    now = timezone.now()
    delivery = WebhookDelivery(project_id=project_id, webhook=webhook, event_type=TEST_TYPE, give_up_at=now, attempts=1)
    secrets = current_secrets(webhook, now=now)
    if all(secrets):
        _post(webhook, delivery, secrets)
    else:
        delivery.last_error = UNREADABLE_SECRET
    delivery.state = (DeliveryState.FAILED if delivery.last_error else DeliveryState.DELIVERED).value
    delivery.finished_at = timezone.now()
    delivery.save(force_insert=True)
    details = {"status": delivery.response_status or 0}
    record(project_id=project_id, verb="webhook_tested", object_kind="webhook", object_id=webhook.id, details=details)
    return delivery


def _post(webhook: Webhook, delivery: WebhookDelivery, secrets: list[str]) -> None:
    message = {
        "id": delivery.shown_id,
        "number": 0,
        "type": TEST_TYPE,
        "timestamp": delivery.created_at.isoformat(),
        "data": {"webhook_id": webhook.shown_id},
    }
    release_connection()  # while the receiver takes its time
    with webhook_client() as client:
        outcome = post_message(
            client,
            url=webhook.url,
            body=msgspec.json.encode(message),
            message_id=delivery.shown_id,
            secrets=secrets,
        )
    delivery.response_status, delivery.duration_ms = outcome.status, outcome.duration_ms
    delivery.last_error = outcome.error


def send_again(*, project_id: UUID, webhook_id: UUID, delivery_id: UUID) -> None:
    """Let a delivery be sent again, with the same identifier. Raises NotFound, Conflict for one that still waits."""
    with transaction.atomic():
        webhook = held_webhook(project_id=project_id, webhook_id=webhook_id)
        found = WebhookDelivery.objects.filter(webhook=webhook, id=delivery_id, event__isnull=False)
        if not found.exists():
            raise NotFound("there is no such delivery of an event")
        if not _wait_again(webhook, found.exclude(state=DeliveryState.WAITING)):
            raise Conflict("the delivery waits to be sent already")


def send_failed_again(
    *, project_id: UUID, webhook_id: UUID, since: datetime | None = None, until: datetime | None = None
) -> int:
    """Let all failed deliveries of events of a period be sent again; return how many. Raises NotFound."""
    with transaction.atomic():
        webhook = held_webhook(project_id=project_id, webhook_id=webhook_id)
        failed = WebhookDelivery.objects.filter(webhook=webhook, state=DeliveryState.FAILED, event__isnull=False)
        if since is not None:
            failed = failed.filter(created_at__gte=since)
        if until is not None:
            failed = failed.filter(created_at__lte=until)
        return _wait_again(webhook, failed)


def _wait_again(webhook: Webhook, deliveries: QuerySet[WebhookDelivery]) -> int:
    now = timezone.now()
    sent = deliveries.update(
        state=DeliveryState.WAITING.value,
        next_try_at=now,
        give_up_at=now + GIVEN_UP_AFTER,
        finished_at=None,
    )
    if sent:
        transaction.on_commit(wake_workers)
        # Somebody who sends again expects a try, even while the receiver is left alone.
        Webhook.objects.filter(id=webhook.id).update(resume_at=now)
        record(
            project_id=webhook.project_id,
            verb="webhook_sent_again",
            object_kind="webhook",
            object_id=webhook.id,
            details={"deliveries": sent},
        )
    return sent
