"""Deliver events at webhooks: claim a webhook, send what is due in order, note the outcome, and send again."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import httpx2
import structlog
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, Exists, Max, OuterRef, QuerySet, Subquery, Window
from django.db.models.functions import Coalesce, Greatest, Now, RowNumber
from django.utils import timezone

from apps.common.errors import Conflict
from apps.common.rows import get_or_refuse
from apps.events.enums import DeliveryState
from apps.events.models import Webhook, WebhookDelivery
from apps.events.record import GIVEN_UP_AFTER
from apps.memories.ledger.record import record
from apps.outbox.enqueue import wake_workers
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.webhooks.messages import GONE, PostOutcome, event_messages, post_message, webhook_client
from apps.webhooks.services import lock_webhook

FAILURES_BEFORE_REST = 3  # in a row: one event that a receiver can't take must not hold up the others
PAUSED_AFTER = timedelta(days=1)  # without any delivery
USERS_AT_ONCE = 4  # connections to a receiver: it waits for one user while it is sent what others did
SLICE = timedelta(seconds=5)  # of one webhook at a time, so that others get their turn
SPARE = timedelta(seconds=15)  # with this and a timeout, a process that has claimed a webhook has died
TEST_TYPE = "webhook.test"

log = structlog.get_logger(__name__)


def wait_after(attempts: int, *, asked: float | None = None) -> timedelta:
    """Return how long to wait after so many attempts: 5 s, 15 s, 45 s … or what the receiver asks; at most 4 hours."""
    return timedelta(seconds=min(max(5 * 3 ** min(attempts - 1, 10), asked or 0), 4 * 3_600))


def rest_after(failures: int) -> timedelta:
    """Return how long a receiver is left alone after so many failures in a row: not at first, then up to 5 minutes."""
    if failures < FAILURES_BEFORE_REST:
        return timedelta()
    return timedelta(seconds=min(5 * 2 ** min(failures - FAILURES_BEFORE_REST, 10), 300))


def claim(*, most: int) -> list[tuple[UUID, UUID]]:
    """Claim some webhooks with due deliveries; return each with its project.

    Projects take turns: first those with the fewest webhooks in flight, then the one that was served longest ago.
    Within a project the webhook that has waited longest comes first.
    """
    of_project = Webhook.objects.filter(project=OuterRef("project")).order_by().values("project")
    in_flight = of_project.filter(leased_until__gte=Now()).annotate(count=Count("id")).values("count")
    served_at = of_project.filter(resume_at__lte=Now()).annotate(at=Max("resume_at")).values("at")
    due = Webhook.objects.free().filter(
        Exists(_due().filter(webhook=OuterRef("id"))), paused_at__isnull=True, resume_at__lte=Now()
    )
    in_turn = due.annotate(
        place=Coalesce(Subquery(in_flight), 0) + Window(RowNumber(), partition_by="project_id", order_by="resume_at"),
        served_at=Subquery(served_at),
    ).order_by("place", "served_at", "resume_at")
    seconds = (SLICE + SPARE).total_seconds() + settings.WEBHOOK_TIMEOUT_SECONDS
    with system_scope(SystemWork.SCHEDULE):
        projects = dict(in_turn.values_list("id", "project_id")[:most])
        claimed = Webhook.objects.filter(id__in=projects).lease(seconds=seconds)[1] if projects else []
    return [(webhook_id, projects[webhook_id]) for webhook_id in claimed]


def deliver_claimed(webhook_id: UUID, project_id: UUID, *, stop: Callable[[], bool] = lambda: False) -> int:
    """Send what is due at a webhook that this process has claimed, and give it back; return how many were delivered.

    A delivery is sent at least once: a process that dies between the answer and its record leaves it waiting.
    """
    until = time.monotonic() + SLICE.total_seconds()
    delivered = 0
    # The first due ones of different end users. All is read again each time, so that a pause, another address or
    # secret, and the erasure of a user hold at once.
    due = _due().filter(webhook_id=webhook_id, webhook__paused_at=None, webhook__resume_at__lte=Now())
    first = due.select_related("webhook", "event").order_by("number")[:USERS_AT_ONCE]
    with (
        tenant_scope(project_id=project_id),
        webhook_client(connections=USERS_AT_ONCE) as client,
        ThreadPoolExecutor(USERS_AT_ONCE) as pool,
    ):
        token: Any = Webhook.objects.values_list("lease_token", flat=True).get(id=webhook_id)
        try:
            while not stop() and time.monotonic() < until and (some := list(first.all())):
                delivered += _send(client, pool, some)
        finally:
            Webhook.objects.release(token=token, resume_at=Greatest("resume_at", Now()))  # its turn is over
    return delivered


def _due() -> QuerySet[WebhookDelivery]:
    """Return the deliveries that are due: the first of each end user at each webhook, which the later ones wait for."""
    waiting = WebhookDelivery.objects.filter(state=DeliveryState.WAITING)
    same = {name: OuterRef(name) for name in ("webhook_id", "end_user_id")}
    return waiting.filter(~Exists(waiting.filter(**same, number__lt=OuterRef("number"))), next_try_at__lte=Now())


def _send(client: httpx2.Client, pool: ThreadPoolExecutor, due: Sequence[WebhookDelivery]) -> int:
    """Send waiting deliveries at once and record what came of them; return how many the receiver has taken."""
    webhook, events = due[0].webhook, [each.event for each in due if each.event]
    messages = {each["number"]: each for each in event_messages(events, includes_content=webhook.includes_content)}
    sent = [each for each in due if each.number in messages]
    for erased in set(due) - set(sent):  # of an end user who is being erased: it is never to be sent
        erased.delete()
    if not connection.in_atomic_block:
        connection.close()  # back to the pool, while the receiver takes its time
    outcomes = list(pool.map(lambda each: _post(client, webhook, messages[each.number]), sent))
    for delivery, outcome in zip(sent, outcomes, strict=True):
        WebhookDelivery.objects.filter(id=delivery.id).update(**_changes(delivery, outcome))
        if outcome.error:
            log.warning("a webhook was not delivered", delivery=str(delivery.id), status=outcome.status)
    _note_health(webhook, outcomes)
    return sum(not each.error for each in outcomes)


def _post(client: httpx2.Client, webhook: Webhook, message: dict[str, Any]) -> PostOutcome:
    return post_message(client, message, message_id=message["id"], url=webhook.url, secrets=webhook.secrets)


def _changes(delivery: WebhookDelivery, outcome: PostOutcome) -> dict[str, Any]:
    """Return how an attempt changes a delivery."""
    attempts = delivery.attempts + 1
    next_try_at = timezone.now() + wait_after(attempts, asked=outcome.retry_after)
    is_last = next_try_at >= delivery.give_up_at
    changes = delivery.after_attempt(error=outcome.error, next_try_at=next_try_at, is_last=is_last)
    return {**changes, "attempts": attempts, "response_status": outcome.status, "duration_ms": outcome.duration_ms}


def _note_health(webhook: Webhook, outcomes: Sequence[PostOutcome]) -> None:
    """Let a receiver rest that takes nothing, and pause its webhook after a day of that, or if it is gone."""
    takes_nothing = all(each.error for each in outcomes)
    if not outcomes or not (takes_nothing or webhook.failures):
        return
    values: dict[str, Any] = {"failures": 0, "failing_since": None}
    if takes_nothing:
        now, failures = timezone.now(), webhook.failures + 1
        failing_since = webhook.failing_since or now
        values = {"failures": failures, "failing_since": failing_since, "resume_at": now + rest_after(failures)}
        reason = ""
        if any(each.status == GONE for each in outcomes):
            reason = "the receiver answered that it is gone (HTTP 410)"
        elif now - failing_since >= PAUSED_AFTER:
            reason = "the receiver has taken nothing for a day"
        if reason:
            values |= {"paused_at": now, "paused_by": "system", "pause_reason": reason}
            log.warning("a webhook was paused", webhook=str(webhook.id), reason=reason)
    # One that was paused or resumed meanwhile, or has another address, begins anew.
    Webhook.objects.filter(id=webhook.id, resume_at=webhook.resume_at, paused_at=None).update(**values)


def send_test(*, project_id: UUID, webhook_id: UUID) -> WebhookDelivery:
    """Send a signed message without any data of end users, once; return it with its outcome. Raises NotFound.

    A paused webhook is tested as well, so that its receiver can be checked before it is resumed.
    """
    webhook = get_or_refuse(Webhook.objects.filter(project_id=project_id, id=webhook_id), "webhook")
    now = timezone.now()
    delivery = WebhookDelivery(
        project_id=project_id, webhook=webhook, event_type=TEST_TYPE, created_at=now, give_up_at=now
    )
    message = {
        "id": delivery.shown_id,
        "number": 0,
        "type": TEST_TYPE,
        "timestamp": now.isoformat(),
        "data": {"webhook_id": webhook.shown_id},
    }
    with webhook_client() as client:
        outcome = _post(client, webhook, message)
    for name, value in _changes(delivery, outcome).items():
        setattr(delivery, name, value)
    delivery.save()
    details = {"status": outcome.status or 0}
    record("webhook_tested", "webhook", webhook.id, project_id=project_id, details=details)
    return delivery


def send_again(
    *,
    project_id: UUID,
    webhook_id: UUID,
    delivery_id: UUID | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> int:
    """Let a delivery, or all failed ones of a period, be sent again with the same identifiers; return how many.

    Raises NotFound, and Conflict for a delivery that still waits.
    """
    with transaction.atomic():
        lock_webhook(project_id=project_id, webhook_id=webhook_id)
        found = WebhookDelivery.objects.filter(webhook=webhook_id, event__isnull=False)
        if delivery_id is None:
            period = {"created_at__gte": since, "created_at__lte": until}
            found = found.filter(state=DeliveryState.FAILED, **{name: day for name, day in period.items() if day})
        else:
            found = found.filter(id=delivery_id)
            if get_or_refuse(found, "delivery of an event").state == DeliveryState.WAITING:
                raise Conflict("the delivery waits to be sent already")
        now = timezone.now()
        sent = found.update(
            state=DeliveryState.WAITING.value, next_try_at=now, give_up_at=now + GIVEN_UP_AFTER, finished_at=None
        )
        if sent:
            # Somebody who sends again expects a try, even while the receiver is left alone.
            Webhook.objects.filter(id=webhook_id).update(resume_at=now)
            transaction.on_commit(wake_workers)
            record("webhook_sent_again", "webhook", webhook_id, project_id=project_id, details={"deliveries": sent})
    return sent
