"""Send the messages about alerts that are due, and those that were not taken again later."""

import time
from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from apps.actions.alerts.send_message import NotDelivered, send_message
from apps.alerts.models import AlertDelivery
from apps.pipeline.core.enums import DeliveryState
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope

log = structlog.get_logger(__name__)
FIRST_WAIT, MOST_WAIT = timedelta(minutes=1), timedelta(hours=1)
MOST_ATTEMPTS = 12  # over about seven hours
CLAIMED_FOR = timedelta(minutes=5)  # longer than a task runs: then the process that claimed it has died


def deliver_messages(*, most: timedelta) -> int:
    """Send due messages until none is left or the time is up; return how many were delivered.

    A message is sent at least once: a receiver recognises repetitions by `webhook-id`.
    """
    deadline = time.monotonic() + most.total_seconds()
    delivered = 0
    while time.monotonic() < deadline:
        with system_scope(SystemWork.SCHEDULE):
            delivery = _claim(timezone.now())
        if delivery is None:
            break
        with tenant_scope(project_id=delivery.project_id):
            delivered += _send(delivery)
    return delivered


def _claim(now: datetime) -> AlertDelivery | None:
    """Return a due message, new ones first, and count the attempt; other processes pass it over."""
    waiting = AlertDelivery.objects.filter(state=DeliveryState.WAITING)
    earlier = waiting.filter(
        alert=OuterRef("alert"), channel=OuterRef("channel"), recipient=OuterRef("recipient"), id__lt=OuterRef("id")
    )
    with transaction.atomic():
        due = waiting.filter(~Exists(earlier), next_try_at__lte=now).order_by("attempts", "next_try_at")
        delivery = due.select_for_update(skip_locked=True, of=("self",)).select_related("alert__project").first()
        if delivery is not None:
            delivery.attempts += 1
            delivery.next_try_at = now + CLAIMED_FOR
            delivery.save(update_fields=["attempts", "next_try_at"])
    return delivery


def _send(delivery: AlertDelivery) -> bool:
    """Send a claimed message and record the outcome; return True if it was delivered."""
    error = ""
    try:
        send_message(delivery)
    except NotDelivered as failure:
        error = str(failure)[:300]
        log.warning("a message about an alert was not delivered", delivery=str(delivery.id), error=error)
    except Exception as failure:  # the messages of other projects must not wait for the one that is at fault
        error = type(failure).__name__
        log.exception("a message about an alert could not be sent", delivery=str(delivery.id))
    now = timezone.now()
    is_over = not error or delivery.attempts >= MOST_ATTEMPTS
    state = DeliveryState.WAITING if not is_over else DeliveryState.FAILED if error else DeliveryState.DELIVERED
    AlertDelivery.objects.filter(id=delivery.id, state=DeliveryState.WAITING).update(
        state=state.value,
        last_error=error,
        next_try_at=now + wait_before_next(delivery.attempts),
        finished_at=now if is_over else None,
    )
    return state is DeliveryState.DELIVERED


def wait_before_next(attempts: int) -> timedelta:
    """Return how long to wait after so many attempts: 1, 2, 4 … minutes, at most an hour."""
    return min(FIRST_WAIT * 2 ** min(attempts - 1, 10), MOST_WAIT)
