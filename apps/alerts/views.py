"""Alerts: what needs attention, who takes care of it, and who is told."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from apps.alerts.enums import AlertState, ProblemCode
from apps.alerts.models import Alert, AlertDelivery, AlertRecipients
from apps.alerts.services import acknowledge_alert, set_recipients
from apps.alerts.verdict import ADVICE, ALERTS
from apps.console.filters import ProjectFilter, tab_filter, word_filter
from apps.console.forms import AlertRecipientsForm
from apps.console.generic import ProjectFormView, ProjectListView
from apps.console.labels import names_of
from apps.console.paging import paginate
from apps.console.permissions import ProjectVisit
from apps.console.shortcuts import project_action
from apps.tenants.enums import MemberRole


class AlertFilter(ProjectFilter):
    """Alerts by state, by default those that are not resolved, and by kind."""

    state = tab_filter(AlertState, "State", any_word="not resolved")
    kind = word_filter(ALERTS, "Kind", any_word="all kinds")

    def filter_queryset(self, queryset: Any) -> Any:
        """Leave resolved alerts out unless a state is given."""
        return super().filter_queryset(queryset if "state" in self.given else queryset.unresolved())


class AlertListView(ProjectListView):
    """Show what is wrong now, and list alerts."""

    template_name = "console/alerts.html"
    queryset = Alert.objects.order_by("-state", "-id")  # "open" sorts after "acknowledged"
    filterset_class = AlertFilter
    paginate_by = 20

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Add what to do about each alert, who has acknowledged it, and troubles that are no alert."""
        shown = super().get_context_data(**context)
        rows = shown["object_list"]
        names = names_of(each.acknowledged_by for each in rows if each.acknowledged_by)
        known = set(Alert.objects.for_project(self.visit.project.pk).unresolved().values_list("kind", "subject"))
        return shown | {
            "advised": [(each, ADVICE[ProblemCode(each.kind)], names.get(each.acknowledged_by, "")) for each in rows],
            "troubles": [each for each in self.visit.verdict.troubles if (each.code, each.subject) not in known],
        }


@project_action(page="alerts")
def acknowledge(request: HttpRequest, visit: ProjectVisit, alert_id: UUID) -> None:
    """Acknowledge an alert, with a note for the others."""
    note = request.POST.get("note", "").replace("\r\n", "\n")
    acknowledge_alert(project_id=visit.project.pk, alert_id=alert_id, note=note)
    messages.success(request, "Acknowledged. The alert is resolved by itself when its cause is mended.")


@method_decorator(never_cache, name="dispatch")
class AlertRecipientsFormView(ProjectFormView):
    """Show and set who is told about alerts, with the latest messages; a new secret is shown once."""

    role = MemberRole.ADMIN
    template_name = "console/alert_recipients.html"
    form_class = AlertRecipientsForm
    success_message = "Saved."

    def get_initial(self) -> dict[str, Any]:
        """Return the present recipients."""
        known = AlertRecipients.objects.filter(project=self.visit.project).first() or AlertRecipients()
        return {"webhook_url": known.webhook_url, "mail_addresses": "\n".join(known.mail_addresses)}

    def save(self, form: AlertRecipientsForm) -> HttpResponse | None:
        """Set the recipients; show a new secret."""
        secret = set_recipients(project_id=self.visit.project.pk, **form.cleaned_data).secret
        return self.render_to_response(self.get_context_data(form=form, secret=secret)) if secret else None

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Add the messages."""
        sent = AlertDelivery.objects.filter(project=self.visit.project).select_related("alert")
        shown = {"page": paginate(sent, self.request, size=20), "has_mail": bool(settings.EMAIL_HOST)}
        return super().get_context_data(**context) | shown
