"""Dashboard: the health of the memory pipeline."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from apps.console.permissions import ProjectVisit, project_page
from apps.health.periods import DashboardRange, dashboard_period
from apps.health.selectors import dashboard as read_dashboard
from apps.health.selectors import is_busy
from apps.intake.read_again import sessions_to_read
from apps.outbox.models import OutboxRow


@project_page()
def dashboard(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show what is wrong, funnel, health ratios, drop reasons, cost and latency of a period."""
    given = request.GET.get("range", "")
    range_ = DashboardRange(given) if given in set(DashboardRange) else DashboardRange.DAY
    now = timezone.now()
    is_too_much = range_ is DashboardRange.HOUR and is_busy(project_id=visit.project.pk, now=now)
    period = dashboard_period(range_, now=now, is_busy=is_too_much)
    shown = read_dashboard(project_id=visit.project.pk, period=period) | {
        "ranges": list(DashboardRange),
        "pending": OutboxRow.objects.filter(project=visit.project).open().count(),
        "reading": sessions_to_read(visit.project.pk),
    }
    return render(request, "console/dashboard.html", shown)
