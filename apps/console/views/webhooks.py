"""Webhooks: what other systems are told, whether they take it, and what is sent again."""

from datetime import UTC, date, datetime, time
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from apps.actions.errors import NotFound, Refused, Unfit
from apps.actions.webhooks.delivery import send_again, send_failed_again, send_test
from apps.actions.webhooks.services import (
    OVERLAP,
    WebhookChange,
    WebhookSecret,
    create_webhook,
    delete_webhook,
    rotate_secret,
    update_webhook,
)
from apps.console.form_repeats import is_repeated, mark_as_done, once
from apps.console.forms import FailedPeriodForm, WebhookForm
from apps.console.labels import count_of
from apps.console.paging import identifier_of, paginate, query_param
from apps.console.permissions import ProjectVisit, project_page
from apps.console.selectors.webhooks import deliveries_by, listed_webhooks
from apps.events.enums import DeliveryState, EventType
from apps.events.models import Webhook
from apps.pipeline.core.enums import MemberRole
from apps.worker.waiting_callers import permit_to_wait


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
            mark_as_done(request)
        except Refused as refused:
            _add_error(form, refused)
    shown = {
        "webhooks": listed_webhooks(project_id=visit.project.pk),
        "form": WebhookForm() if made else form,
        "made": made,
        "once": once(),
    }
    return render(request, "console/webhooks.html", shown, status=422 if form.errors else 200)


@never_cache
@project_page(MemberRole.ADMIN)
def webhook(request: HttpRequest, visit: ProjectVisit, webhook_id: UUID) -> HttpResponse:
    """Show a webhook with the log of its deliveries, and change it."""
    found = _find(visit, webhook_id)
    form = WebhookForm(request.POST or None, initial=WebhookForm.values_of(found))
    if request.method == "POST" and form.is_valid():
        try:
            update_webhook(
                project_id=visit.project.pk, webhook_id=webhook_id, change=WebhookChange(**form.cleaned_data)
            )
        except Refused as refused:
            _add_error(form, refused)
        else:
            messages.success(request, "Saved.")
            return redirect("console:webhook", slug=visit.project.slug, webhook_id=webhook_id)
    return _page(request, visit, found, form)


@never_cache
@require_POST
@project_page(MemberRole.ADMIN)
def rotate(request: HttpRequest, visit: ProjectVisit, webhook_id: UUID) -> HttpResponse:
    """Replace the secret, and show the new one once."""
    found = _find(visit, webhook_id)
    if is_repeated(request):
        messages.info(request, "This secret was made before. It is shown only once.")
        return redirect("console:webhook", slug=visit.project.slug, webhook_id=webhook_id)
    ends_at_once = request.POST.get("ends_at_once") == "on"
    made = rotate_secret(project_id=visit.project.pk, webhook_id=webhook_id, ends_at_once=ends_at_once)
    mark_as_done(request)
    return _page(request, visit, found, WebhookForm(initial=WebhookForm.values_of(found)), made)


@require_POST
@project_page(MemberRole.ADMIN)
def switch(request: HttpRequest, visit: ProjectVisit, webhook_id: UUID) -> HttpResponse:
    """Pause or resume a webhook."""
    found = _find(visit, webhook_id)
    change = WebhookChange(is_paused=found.paused_at is None)
    changed = update_webhook(project_id=visit.project.pk, webhook_id=webhook_id, change=change)
    told = "Paused. What happens meanwhile waits, for three days." if changed.paused_at else "Resumed."
    messages.success(request, told)
    return redirect("console:webhook", slug=visit.project.slug, webhook_id=webhook_id)


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
    return redirect("console:webhook", slug=visit.project.slug, webhook_id=webhook_id)


@require_POST
@project_page(MemberRole.ADMIN, changes_archived=True)
def delete(request: HttpRequest, visit: ProjectVisit, webhook_id: UUID) -> HttpResponse:
    """Delete a webhook with its log."""
    _find(visit, webhook_id)
    delete_webhook(project_id=visit.project.pk, webhook_id=webhook_id)
    messages.success(request, "Deleted. What waited for this webhook is not sent.")
    return redirect("console:webhooks", slug=visit.project.slug)


@require_POST
@project_page(MemberRole.ADMIN)
def again(request: HttpRequest, visit: ProjectVisit, webhook_id: UUID) -> HttpResponse:
    """Send one delivery again, or all failed ones of some days."""
    _find(visit, webhook_id)
    named, period = identifier_of(request.POST.get("delivery", "")), FailedPeriodForm(request.POST)
    try:
        if named is not None:
            send_again(project_id=visit.project.pk, webhook_id=webhook_id, delivery_id=named)
            messages.success(request, "It is sent again.")
        elif period.is_valid():
            sent = _send_failed(visit, webhook_id, **period.cleaned_data)
            messages.success(request, f"{count_of(sent, 'failed delivery', 'failed deliveries')} will be sent again.")
        else:
            messages.error(request, "Nothing is sent: choose days.")
    except Refused as refused:
        messages.error(request, f"Nothing is sent: {refused}.")
    return redirect("console:webhook", slug=visit.project.slug, webhook_id=webhook_id)


def _send_failed(visit: ProjectVisit, webhook_id: UUID, *, since: date | None, until: date | None) -> int:
    return send_failed_again(
        project_id=visit.project.pk,
        webhook_id=webhook_id,
        since=datetime.combine(since, time.min, tzinfo=UTC) if since else None,
        until=datetime.combine(until, time.max, tzinfo=UTC) if until else None,
    )


def _find(visit: ProjectVisit, webhook_id: UUID) -> Webhook:
    found = Webhook.objects.filter(project_id=visit.project.pk, id=webhook_id).first()
    if found is None:
        raise Http404("there is no such webhook")
    return found


def _add_error(form: WebhookForm, refused: Refused) -> None:
    if isinstance(refused, NotFound):
        raise Http404(str(refused)) from refused
    field = refused.at.split("/")[1] if isinstance(refused, Unfit) and refused.at else None
    form.add_error(field if field in form.fields else None, str(refused))


def _page(
    request: HttpRequest,
    visit: ProjectVisit,
    found: Webhook,
    form: WebhookForm,
    made: WebhookSecret | None = None,
) -> HttpResponse:
    state, event_type = query_param(request, "state"), query_param(request, "type")
    (listed,) = [each for each in listed_webhooks(project_id=visit.project.pk) if each.webhook.id == found.id]
    deliveries = deliveries_by(webhook_id=found.id, state=state, event_type=event_type)
    shown = {
        "listed": listed,
        "form": form,
        "made": made,
        "once": once(),
        "overlap_hours": int(OVERLAP.total_seconds() // 3_600),
        "period": FailedPeriodForm(),
        "page": paginate(deliveries, request),
        "state": state if state in set(DeliveryState) else "",
        "states": list(DeliveryState),
        "type": event_type if event_type in set(EventType) else "",
        "types": list(EventType),
    }
    return render(request, "console/webhook.html", shown, status=422 if form.errors else 200)
