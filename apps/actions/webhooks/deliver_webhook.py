"""Deliver what is due at one webhook: end users side by side, the events of one in their order."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from threading import Event
from uuid import UUID

import structlog
from django.db import transaction
from django.utils import timezone

from apps.actions.webhooks.post_message import GONE, PostOutcome, webhook_client
from apps.actions.webhooks.send_delivery import send_delivery
from apps.actions.webhooks.side_by_side import side_by_side
from apps.events.delivery_times import FAILURES_BEFORE_REST, is_to_be_paused, rest_after
from apps.events.leases import due_deliveries
from apps.events.models import Webhook
from apps.events.reading import SYSTEM_PAUSE

log = structlog.get_logger(__name__)

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
