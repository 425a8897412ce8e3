"""Which webhooks have something to deliver, and which process delivers it. All times are the database's."""

from uuid import UUID

from django.db.models import Count, Exists, Max, OuterRef, Subquery, Window
from django.db.models.functions import Coalesce, Now, RowNumber

from apps.events.models import Webhook, WebhookDelivery
from apps.pipeline.core.enums import DeliveryState

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
