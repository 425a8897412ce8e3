"""Projects take turns in the delivery of events, and webhooks within a project."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from apps.events.models import Webhook, WebhookDelivery
from apps.tenants.models import Project
from apps.webhooks.delivery import claim
from tests.webhooks.webhook_rows import webhook

pytestmark = pytest.mark.django_db


def due(project: Project, *names: str, hours: int) -> None:
    """Store webhooks that wait for their turn since so many hours."""
    since = timezone.now() - timedelta(hours=hours)
    for name in names:
        made = webhook(project, "https://example.com/w", name=name)
        Webhook.objects.filter(id=made.id).update(resume_at=since)
        WebhookDelivery.objects.create(
            project=project, webhook=made, event_type="memory.created", give_up_at=timezone.now() + timedelta(days=1)
        )


def names_of(claimed: list[tuple[UUID, UUID]]) -> list[str]:
    return sorted(Webhook.objects.get(id=webhook_id).name for webhook_id, _ in claimed)


def test_projects_take_turns_however_many_webhooks_they_have(project: Project, other_project: Project) -> None:
    due(project, "a1", "a2", "a3", "a4", hours=9)
    due(other_project, "b1", hours=1)

    assert [name[0] for name in names_of(claim(most=2))] == ["a", "b"]
    Webhook.objects.filter(name="b1").update(leased_until=None, resume_at=timezone.now())  # it was served
    assert names_of(claim(most=1)) == ["b1"], "its project has none in flight"
    assert len(claim(most=9)) == 3, "nobody else waits"


def test_of_two_projects_the_one_that_was_served_last_waits(project: Project, other_project: Project) -> None:
    due(project, "a1", "a2", hours=9)
    due(other_project, "b1", hours=1)
    Webhook.objects.filter(name="a1").update(resume_at=timezone.now())

    assert names_of(claim(most=1)) == ["b1"]
