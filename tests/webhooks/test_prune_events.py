"""Old events and deliveries are deleted; what is still to be sent stays."""

from datetime import timedelta

from django.utils import timezone

from apps.events.enums import EventType
from apps.events.models import ProjectEvent, WebhookDelivery
from apps.events.record import number_all_events
from apps.queue.prune import prune
from apps.tenants.models import Project
from tests.webhooks.webhook_rows import webhook


def test_old_events_go_unless_they_are_still_to_be_sent(project: Project) -> None:
    webhook(project, "https://example.com/", event_types=[EventType.TRACE_FINISHED])
    old = timezone.now() - timedelta(days=15)
    for type_ in ("memory.created", "trace.finished", "trace.finished"):
        ProjectEvent.objects.create(project=project, type=type_, created_at=old)
    number_all_events()
    ProjectEvent.objects.create(project=project, type="memory.created")
    delivered, waiting = WebhookDelivery.objects.order_by("number")
    WebhookDelivery.objects.update(created_at=old)
    WebhookDelivery.objects.filter(id=delivered.id).update(state="delivered")
    assert prune() == 3

    assert list(WebhookDelivery.objects.all()) == [waiting]
    assert set(ProjectEvent.objects.values_list("number", flat=True)) == {waiting.number, None}


def test_what_waited_too_long_for_a_paused_webhook_is_given_up(project: Project) -> None:
    made = webhook(project, "https://example.com/")
    ProjectEvent.objects.create(project=project, type="memory.created")
    ProjectEvent.objects.create(project=project, type="memory.updated")
    number_all_events()
    old, _ = WebhookDelivery.objects.filter(webhook=made).order_by("number")
    WebhookDelivery.objects.filter(id=old.id).update(give_up_at=timezone.now() - timedelta(days=2))
    prune()

    given_up, waiting = WebhookDelivery.objects.order_by("number")
    assert (given_up.state, given_up.last_error) == ("failed", "given up while its webhook was paused")
    assert waiting.state == "waiting"
