"""Delete done work, stored answers, invitations and test calls after their period, expired items and old events."""

from collections.abc import Mapping
from datetime import timedelta
from time import monotonic
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now

from apps.events.enums import DeliveryState
from apps.events.models import ProjectEvent, WebhookDelivery
from apps.items.models import StoredItem
from apps.outbox.model_pauses import delete_unused_pauses
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import WorkState
from apps.tenants.limits import prune_counters
from apps.tenants.models import Invitation
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import IdempotentRequest, ModelTestCall

AN_HOUR = timedelta(hours=1)
A_DAY = timedelta(days=1)
BATCH = 5_000  # rows per statement, so that no statement runs long after a busy hour


def prune(*, most: timedelta = AN_HOUR) -> int:
    """Delete what is older than its retention period, in batches that commit separately; return how many rows.

    What is left when the time is up is left for the next run. Dead work stays until a person retries or deletes it.
    """
    until = monotonic() + most.total_seconds()
    work_ends = Now() - timedelta(days=settings.WORK_RETENTION_DAYS)
    answers_end = Now() - timedelta(hours=settings.IDEMPOTENCY_KEPT_HOURS)
    events_end = Now() - timedelta(days=settings.EVENT_RETENTION_DAYS)
    waiting = WebhookDelivery.objects.filter(state=DeliveryState.WAITING)
    sent = WebhookDelivery.objects.exclude(state=DeliveryState.WAITING)
    is_to_be_sent = Exists(WebhookDelivery.objects.filter(project=OuterRef("project"), event=OuterRef("pk")))
    events = ProjectEvent.objects.filter(~is_to_be_sent, number__isnull=False)
    old: list[QuerySet[Any]] = [  # by the time that an index has, where the table is large
        OutboxRow.objects.filter(state=WorkState.DONE, finished_at__lt=work_ends).order_by("finished_at"),
        IdempotentRequest.objects.filter(created_at__lt=answers_end).order_by("created_at"),
        Invitation.objects.filter(expires_at__lt=work_ends).order_by(),  # they contain mail addresses
        ModelTestCall.objects.filter(created_at__lt=work_ends).order_by(),
        StoredItem.objects.filter(expires_at__lt=Now()).order_by("expires_at"),
        sent.filter(created_at__lt=events_end).order_by("created_at"),
        events.filter(created_at__lt=events_end).order_by("created_at"),
    ]
    with system_scope(SystemWork.SCHEDULE):
        # A delivery is given up by its last attempt; one of a paused webhook, which has none, here.
        given_up = {"state": DeliveryState.FAILED, "last_error": "given up while its webhook was paused"}
        late = waiting.filter(give_up_at__lt=Now() - A_DAY).order_by()
        _in_batches(late, until=until, changes={**given_up, "finished_at": Now()})
        deleted = sum(_in_batches(rows, until=until) for rows in old)
        return deleted + delete_unused_pauses() + prune_counters()


def _in_batches(rows: QuerySet[Any], *, until: float, changes: Mapping[str, Any] | None = None) -> int:
    """Delete rows, or make `changes` that leave none of them in the queryset; return how many."""
    done = 0
    while True:
        batch = list(rows.values_list("pk", flat=True)[:BATCH])
        found = rows.filter(pk__in=batch)  # a row that was changed meanwhile may have to stay
        done += found.update(**changes) if changes else found.delete()[0]
        if len(batch) < BATCH or monotonic() >= until:
            return done
