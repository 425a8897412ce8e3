"""Which webhooks have something to deliver, when a delivery is tried again, and which process delivers it."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Count, Exists, Max, OuterRef, Subquery, Window
from django.db.models.functions import Coalesce, Now, RowNumber

from apps.events.enums import DeliveryState
from apps.events.models import Webhook, WebhookDelivery

FIRST_WAIT, MOST_WAIT = timedelta(seconds=5), timedelta(hours=4)
GIVEN_UP_AFTER = timedelta(days=3)  # counted from when the delivery was due first
FAILURES_BEFORE_REST = 3  # one event that a receiver can't take must not hold up the others
FIRST_REST, MOST_REST = timedelta(seconds=5), timedelta(minutes=5)
PAUSED_AFTER = timedelta(days=1)  # without any delivery


def wait_after(attempts: int, *, asked: float | None = None) -> timedelta:
    """Return how long to wait after so many attempts: 5 s, 15 s, 45 s … at most 4 hours.

    `asked` are the seconds that the receiver has asked for; they prolong the wait.
    """
    times: int = 3 ** min(attempts - 1, 10)
    wait = max(FIRST_WAIT * times, timedelta(seconds=min(asked or 0.0, MOST_WAIT.total_seconds())))
    return min(wait, MOST_WAIT)


def rest_after(failures: int) -> timedelta:
    """Return how long a receiver is left alone after so many failures in a row: not at first, then up to 5 minutes."""
    if failures < FAILURES_BEFORE_REST:
        return timedelta()
    times: int = 2 ** min(failures - FAILURES_BEFORE_REST, 10)
    return min(FIRST_REST * times, MOST_REST)


def is_to_be_paused(*, failing_since: datetime | None, now: datetime) -> bool:
    """Return True once a receiver has taken nothing for PAUSED_AFTER."""
    return failing_since is not None and now - failing_since >= PAUSED_AFTER


MOST_DUE = 200  # deliveries that are read at a time


def claim_webhooks(*, most: int, seconds: float) -> list[tuple[UUID, UUID]]:
    """Claim webhooks with due deliveries for so long, projects in turn; return each with its project."""
    due = dict(_in_turn()[:most])
    if not due:
        return []
    _, claimed = Webhook.objects.filter(id__in=due).lease(seconds=seconds)
    return [(webhook_id, due[webhook_id]) for webhook_id in claimed]


def _in_turn() -> list[tuple[UUID, UUID]]:
    """Return the free webhooks with due deliveries, each with its project.

    Projects take turns: first those with the fewest webhooks in flight, then the one that was served longest ago.
    Within a project the webhook that has waited longest comes first.
    """
    deliveries = WebhookDelivery.objects.filter(state=DeliveryState.WAITING, next_try_at__lte=Now())
    of_project = Webhook.objects.filter(project=OuterRef("project")).order_by().values("project")
    in_flight = of_project.filter(leased_until__gte=Now()).annotate(count=Count("id")).values("count")
    served_at = of_project.filter(resume_at__lte=Now()).annotate(at=Max("resume_at")).values("at")
    due = Webhook.objects.free().filter(paused_at__isnull=True, resume_at__lte=Now())
    return list(
        due.filter(Exists(deliveries.filter(webhook=OuterRef("id"))))
        .annotate(
            place=Coalesce(Subquery(in_flight), 0)
            + Window(RowNumber(), partition_by="project_id", order_by="resume_at"),
            served_at=Subquery(served_at),
        )
        .order_by("place", "served_at", "resume_at")
        .values_list("id", "project_id")
    )


def due_deliveries(*, project_id: UUID, webhook_id: UUID) -> list[list[UUID]]:
    """Return due deliveries of a webhook by end user, each user's in the order of the events.

    A delivery waits for earlier ones of the same end user.
    """
    waiting = WebhookDelivery.objects.filter(project_id=project_id, webhook_id=webhook_id, state=DeliveryState.WAITING)
    earlier = waiting.filter(end_user_id=OuterRef("end_user_id"), number__lt=OuterRef("number"), next_try_at__gt=Now())
    due = waiting.filter(~Exists(earlier), next_try_at__lte=Now()).order_by("number")
    by_user: dict[UUID, list[UUID]] = {}
    for delivery_id, user_id in due.values_list("id", "end_user_id")[:MOST_DUE]:
        by_user.setdefault(user_id or delivery_id, []).append(delivery_id)
    return list(by_user.values())
