"""Alerts: what needs attention, who takes care of it, and who is told."""

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from apps.alerts.enums import AlertState, ProblemCode
from apps.alerts.models import Alert, AlertDelivery, AlertRecipients
from apps.alerts.services import acknowledge_alert, set_recipients
from apps.alerts.verdict import ADVICE, ALERTS
from apps.common.errors import Unfit
from apps.console.forms import AlertRecipientsForm
from apps.console.labels import names_of
from apps.console.paging import paginate, query_param
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import refusals_told
from apps.tenants.enums import MemberRole

_OPEN_FIRST = ("-state", "-id")  # of those that are not resolved: "open" sorts after "acknowledged"


@project_page()
def alerts(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show what is wrong now, and list alerts, by default those that are not resolved."""
    state, kind = query_param(request, "state"), query_param(request, "kind")
    rows = Alert.objects.for_project(visit.project.pk).order_by(*_OPEN_FIRST)
    rows = rows.filter(state=state) if state in set(AlertState) else rows.unresolved()
    page = paginate(rows.filter(kind=kind) if kind in ALERTS else rows, request, size=20)
    names = names_of(each.acknowledged_by for each in page.rows if each.acknowledged_by)
    cards = []
    for alert in page.rows:
        advice = ADVICE[ProblemCode(alert.kind)]
        card = {"alert": alert, "advice": advice, "url": advice.path(visit.project.slug)}
        cards.append(card | {"acknowledged_by": names.get(alert.acknowledged_by, "")})
    known = set(Alert.objects.for_project(visit.project.pk).unresolved().values_list("kind", "subject"))
    shown = {
        "page": page,
        "troubles": [each for each in visit.verdict.troubles if (each.code, each.subject) not in known],
        "cards": cards,
        "state": state if state in set(AlertState) else "",
        "states": list(AlertState),
        "kind": kind,
        "kinds": ALERTS,
    }
    return render(request, "console/alerts.html", shown)


@require_POST
@project_page(MemberRole.ADMIN)
def acknowledge(request: HttpRequest, visit: ProjectVisit, alert_id: UUID) -> HttpResponse:
    """Acknowledge an alert, with a note for the others."""
    note = request.POST.get("note", "").replace("\r\n", "\n")
    with refusals_told(request):
        acknowledge_alert(project_id=visit.project.pk, alert_id=alert_id, note=note)
        messages.success(request, "Acknowledged. The alert is resolved by itself when its cause is mended.")
    return redirect("console:alerts", slug=visit.project.slug)


@never_cache
@project_page(MemberRole.ADMIN)
def recipients(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show and set who is told about alerts, with the latest messages; a new secret is shown once."""
    current = AlertRecipients.objects.filter(project=visit.project).first()
    form, secret = AlertRecipientsForm(request.POST or None, initial=AlertRecipientsForm.values_of(current)), ""
    if request.method == "POST" and form.is_valid():
        try:
            secret = set_recipients(project_id=visit.project.pk, **form.cleaned_data).secret
        except Unfit as unfit:
            form.add_error(unfit.at.split("/")[1], str(unfit))
        else:
            messages.success(request, "Saved.")
            if not secret:
                return redirect("console:alert-recipients", slug=visit.project.slug)
    shown = {
        "form": form,
        "secret": secret,
        "page": paginate(AlertDelivery.objects.filter(project=visit.project).select_related("alert"), request, size=20),
        "has_mail": bool(settings.EMAIL_HOST),
    }
    return render(request, "console/alert_recipients.html", shown, status=422 if form.errors else 200)
