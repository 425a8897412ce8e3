"""Webhooks: what other systems are told, whether they take it, and what is sent again."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import Count, Q, QuerySet
from django.forms.models import model_to_dict
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from apps.console.filters import ProjectFilter, tab_filter, word_filter
from apps.console.forms import FailedPeriodForm, WebhookForm
from apps.console.generic import ProjectFormView
from apps.console.labels import count_of, names_of
from apps.console.paging import identifier_of, paginate
from apps.console.permissions import ProjectVisit
from apps.console.shortcuts import done_once, once, project_action
from apps.events.enums import DeliveryState, EventType
from apps.events.models import Webhook, WebhookDelivery
from apps.tenants.enums import MemberRole
from apps.webhooks.delivery import send_again, send_test
from apps.webhooks.services import OVERLAP, create_webhook, delete_webhook, rotate_secret, update_webhook
from apps.worker.run_now import permit_to_wait


@method_decorator(never_cache, name="dispatch")
@method_decorator(
    done_once("This webhook was created before. Its secret is shown only once.", page="webhooks"), name="post"
)
class WebhookCreateView(ProjectFormView):
    """List webhooks and create one; its secret is shown once."""

    role = MemberRole.ADMIN
    template_name = "console/webhooks.html"
    form_class = WebhookForm

    def save(self, form: WebhookForm) -> HttpResponse:
        """Create the webhook, and show its secret."""
        made = create_webhook(project_id=self.visit.project.pk, **form.cleaned_data)
        return self.render_to_response(self.get_context_data(form=WebhookForm(), made=made))

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Add the webhooks."""
        listed = list(_webhooks(self.visit))
        names = names_of(each.created_by for each in listed)
        return super().get_context_data(**context) | {"webhooks": listed, "names": names, "once": once()}


class DeliveryFilter(ProjectFilter):
    """Deliveries by state and event."""

    state = tab_filter(DeliveryState, "State")
    type = word_filter(EventType, "Event", any_word="all events", field_name="event_type")


@method_decorator(never_cache, name="dispatch")
class WebhookUpdateView(ProjectFormView):
    """Show a webhook with the log of its deliveries, and change it."""

    role = MemberRole.ADMIN
    template_name = "console/webhook.html"
    form_class = WebhookForm
    success_message = "Saved."

    def get_initial(self) -> dict[str, Any]:
        """Return the present values."""
        return model_to_dict(get_object_or_404(Webhook, project=self.visit.project, pk=self.kwargs["webhook_id"]))

    def save(self, form: WebhookForm) -> None:
        """Change the webhook."""
        update_webhook(project_id=self.visit.project.pk, webhook_id=self.kwargs["webhook_id"], **form.cleaned_data)

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Add the webhook and its deliveries."""
        hook = get_object_or_404(_webhooks(self.visit), pk=self.kwargs["webhook_id"])
        log = DeliveryFilter(self.request.GET, WebhookDelivery.objects.filter(webhook=hook), request=self.request)
        return super().get_context_data(**context) | {
            "hook": hook,
            "names": names_of([hook.paused_by]),
            "once": once(),
            "overlap_hours": OVERLAP // timedelta(hours=1),
            "period": FailedPeriodForm(),
            "page": paginate(log.qs, self.request),
            "filter": log,
        }


@method_decorator(require_POST, name="dispatch")
@method_decorator(
    done_once("This secret was made before. It is shown only once.", page="webhook", row="webhook_id"), name="post"
)
class WebhookRotateView(WebhookUpdateView):
    """Replace the secret, and show the new one once."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Make a secret."""
        form = WebhookForm(initial=self.get_initial())
        made = rotate_secret(
            project_id=self.visit.project.pk,
            webhook_id=self.kwargs["webhook_id"],
            ends_at_once=request.POST.get("ends_at_once") == "on",
        )
        return self.render_to_response(self.get_context_data(form=form, made=made))


@project_action(page="webhook", row="webhook_id")
def switch(request: HttpRequest, visit: ProjectVisit, webhook_id: UUID) -> None:
    """Pause or resume a webhook."""
    is_paused = not get_object_or_404(Webhook, project=visit.project, pk=webhook_id).is_paused
    update_webhook(project_id=visit.project.pk, webhook_id=webhook_id, is_paused=is_paused)
    told = "Paused. What happens meanwhile waits, for three days." if is_paused else "Resumed."
    messages.success(request, told)


@project_action(page="webhook", row="webhook_id")
def test(request: HttpRequest, visit: ProjectVisit, webhook_id: UUID) -> None:
    """Send a test and tell its outcome."""
    with permit_to_wait() as is_permitted:
        sent = send_test(project_id=visit.project.pk, webhook_id=webhook_id) if is_permitted else None
    if sent is None:
        messages.error(request, "Nothing was sent: too many others wait for an answer. Try again in a moment.")
    elif sent.last_error:
        messages.error(request, f"The test was not taken: {sent.last_error}.")
    else:
        messages.success(request, f"The receiver has taken the test (HTTP {sent.response_status}).")


@project_action(page="webhooks", changes_archived=True)
def delete(request: HttpRequest, visit: ProjectVisit, webhook_id: UUID) -> None:
    """Delete a webhook with its log."""
    delete_webhook(project_id=visit.project.pk, webhook_id=webhook_id)
    messages.success(request, "Deleted. What waited for this webhook is not sent.")


@project_action(page="webhook", row="webhook_id")
def again(request: HttpRequest, visit: ProjectVisit, webhook_id: UUID) -> None:
    """Send one delivery again, or all failed ones of some days."""
    days = FailedPeriodForm(request.POST)
    if not days.is_valid():
        messages.error(request, "Nothing is sent: choose days.")
        return
    delivery_id = identifier_of(request.POST.get("delivery", ""))
    sent = send_again(project_id=visit.project.pk, webhook_id=webhook_id, delivery_id=delivery_id, **days.cleaned_data)
    told = f"{count_of(sent, 'failed delivery', 'failed deliveries')} will be sent again."
    messages.success(request, "It is sent again." if delivery_id else told)


def _webhooks(visit: ProjectVisit) -> QuerySet[Any]:
    """Return the webhooks of the project by name, each with how many deliveries wait and have failed."""
    counts = {state: Count("deliveries", filter=Q(deliveries__state=state)) for state in ("waiting", "failed")}
    return Webhook.objects.filter(project=visit.project).annotate(**counts)
