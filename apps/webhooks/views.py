"""Webhooks: what other systems are told, whether they take it, and what is sent again."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import Count, Q, QuerySet
from django.forms.models import model_to_dict
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from apps.common.errors import Refused, Unfit
from apps.console.forms import FailedPeriodForm, WebhookForm
from apps.console.labels import count_of, names_of
from apps.console.paging import identifier_of, paginate, query_param
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import is_repeated, mark_as_done, once, refusals_told
from apps.events.enums import DeliveryState, EventType
from apps.events.models import Webhook, WebhookDelivery
from apps.tenants.enums import MemberRole
from apps.webhooks.delivery import send_again, send_test
from apps.webhooks.services import OVERLAP, create_webhook, delete_webhook, rotate_secret, update_webhook
from apps.worker.run_now import permit_to_wait


@never_cache
@project_page(MemberRole.ADMIN)
def webhooks(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List webhooks and create one; its secret is shown once."""
    form, made = WebhookForm(request.POST or None), None
    if is_repeated(request):
        messages.info(request, "This webhook was created before. Its secret is shown only once.")
        return redirect("console:webhooks", slug=visit.project.slug)
    if request.method == "POST" and form.is_valid():
        try:
            made = create_webhook(project_id=visit.project.pk, **form.cleaned_data)
            form = WebhookForm()
            mark_as_done(request)
        except Refused as refused:
            _add_error(form, refused)
    listed = list(_webhooks(visit))
    names = names_of(each.created_by for each in listed)
    shown = {"webhooks": listed, "names": names, "form": form, "made": made, "once": once()}
    return render(request, "console/webhooks.html", shown, status=422 if form.errors else 200)


@never_cache
@project_page(MemberRole.ADMIN)
def webhook(request: HttpRequest, visit: ProjectVisit, webhook_id: UUID) -> HttpResponse:
    """Show a webhook with the log of its deliveries, and change it."""
    form = WebhookForm(request.POST or None, initial=model_to_dict(_find(visit, webhook_id)))
    if request.method == "POST" and form.is_valid():
        try:
            update_webhook(project_id=visit.project.pk, webhook_id=webhook_id, **form.cleaned_data)
            messages.success(request, "Saved.")
            return _back(visit, webhook_id)
        except Refused as refused:
            _add_error(form, refused)
    return _page(request, visit, webhook_id, form)


@never_cache
@require_POST
@project_page(MemberRole.ADMIN)
def rotate(request: HttpRequest, visit: ProjectVisit, webhook_id: UUID) -> HttpResponse:
    """Replace the secret, and show the new one once."""
    form = WebhookForm(initial=model_to_dict(_find(visit, webhook_id)))
    if is_repeated(request):
        messages.info(request, "This secret was made before. It is shown only once.")
        return _back(visit, webhook_id)
    ends_at_once = request.POST.get("ends_at_once") == "on"
    made = rotate_secret(project_id=visit.project.pk, webhook_id=webhook_id, ends_at_once=ends_at_once)
    mark_as_done(request)
    return _page(request, visit, webhook_id, form, made)


@require_POST
@project_page(MemberRole.ADMIN)
def switch(request: HttpRequest, visit: ProjectVisit, webhook_id: UUID) -> HttpResponse:
    """Pause or resume a webhook."""
    is_paused = not _find(visit, webhook_id).is_paused
    update_webhook(project_id=visit.project.pk, webhook_id=webhook_id, is_paused=is_paused)
    told = "Paused. What happens meanwhile waits, for three days." if is_paused else "Resumed."
    messages.success(request, told)
    return _back(visit, webhook_id)


@require_POST
@project_page(MemberRole.ADMIN)
def test(request: HttpRequest, visit: ProjectVisit, webhook_id: UUID) -> HttpResponse:
    """Send a test and tell its outcome."""
    _find(visit, webhook_id)
    with permit_to_wait() as is_permitted:
        sent = send_test(project_id=visit.project.pk, webhook_id=webhook_id) if is_permitted else None
    if sent is None:
        messages.error(request, "Nothing was sent: too many others wait for an answer. Try again in a moment.")
    elif sent.last_error:
        messages.error(request, f"The test was not taken: {sent.last_error}.")
    else:
        messages.success(request, f"The receiver has taken the test (HTTP {sent.response_status}).")
    return _back(visit, webhook_id)


@require_POST
@project_page(MemberRole.ADMIN, changes_archived=True)
def delete(request: HttpRequest, visit: ProjectVisit, webhook_id: UUID) -> HttpResponse:
    """Delete a webhook with its log."""
    with refusals_told(request):
        delete_webhook(project_id=visit.project.pk, webhook_id=webhook_id)
        messages.success(request, "Deleted. What waited for this webhook is not sent.")
    return redirect("console:webhooks", slug=visit.project.slug)


@require_POST
@project_page(MemberRole.ADMIN)
def again(request: HttpRequest, visit: ProjectVisit, webhook_id: UUID) -> HttpResponse:
    """Send one delivery again, or all failed ones of some days."""
    days = FailedPeriodForm(request.POST)
    if not days.is_valid():
        messages.error(request, "Nothing is sent: choose days.")
        return _back(visit, webhook_id)
    delivery_id = identifier_of(request.POST.get("delivery", ""))
    with refusals_told(request):
        sent = send_again(
            project_id=visit.project.pk, webhook_id=webhook_id, delivery_id=delivery_id, **days.cleaned_data
        )
        told = f"{count_of(sent, 'failed delivery', 'failed deliveries')} will be sent again."
        messages.success(request, "It is sent again." if delivery_id else told)
    return _back(visit, webhook_id)


def _webhooks(visit: ProjectVisit) -> QuerySet[Any]:
    """Return the webhooks of the project by name, each with how many deliveries wait and have failed."""
    counts = {state: Count("deliveries", filter=Q(deliveries__state=state)) for state in ("waiting", "failed")}
    return Webhook.objects.filter(project=visit.project).annotate(**counts)


def _find(visit: ProjectVisit, webhook_id: UUID) -> Webhook:
    found: Webhook = get_object_or_404(Webhook, project=visit.project, pk=webhook_id)
    return found


def _add_error(form: WebhookForm, refused: Refused) -> None:
    field = refused.at.strip("/") if isinstance(refused, Unfit) else None
    form.add_error(field, str(refused))


def _back(visit: ProjectVisit, webhook_id: UUID) -> HttpResponse:
    return redirect("console:webhook", slug=visit.project.slug, webhook_id=webhook_id)


def _page(
    request: HttpRequest, visit: ProjectVisit, webhook_id: UUID, form: WebhookForm, made: Webhook | None = None
) -> HttpResponse:
    hook = _webhooks(visit).get(pk=webhook_id)
    state, event_type = query_param(request, "state"), query_param(request, "type")
    deliveries = WebhookDelivery.objects.filter(webhook=hook)
    if state in set(DeliveryState):
        deliveries = deliveries.filter(state=state)
    if event_type in set(EventType):
        deliveries = deliveries.filter(event_type=event_type)
    shown = {
        "hook": hook,
        "names": names_of([hook.paused_by]),
        "form": form,
        "made": made,
        "once": once(),
        "overlap_hours": OVERLAP // timedelta(hours=1),
        "period": FailedPeriodForm(),
        "page": paginate(deliveries, request),
        "state": state,
        "states": list(DeliveryState),
        "type": event_type,
        "types": list(EventType),
    }
    return render(request, "console/webhook.html", shown, status=422 if form.errors else 200)
