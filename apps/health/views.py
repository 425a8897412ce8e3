"""Dashboard: the health of the memory pipeline."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from apps.console.charts import DashboardRange, dashboard_period, funnel_bars
from apps.console.permissions import ProjectVisit, project_page
from apps.health.selectors import (
    cost_series,
    funnel_steps,
    gauge_series,
    is_busy,
    reason_series,
    redacted_text,
)
from apps.health.selectors import dashboard as read_dashboard
from apps.intake.read_again import sessions_to_read
from apps.outbox.models import OutboxRow
from apps.traces.funnel_metrics import Measure


@project_page()
def dashboard(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show what is wrong, funnel, health ratios, drop reasons, cost and latency of a period."""
    given = request.GET.get("range", "")
    range_ = DashboardRange(given) if given in set(DashboardRange) else DashboardRange.DAY
    now = timezone.now()
    is_too_much = range_ is DashboardRange.HOUR and is_busy(project_id=visit.project.pk, now=now)
    shown = read_dashboard(project_id=visit.project.pk, period=dashboard_period(range_, now=now, is_busy=is_too_much))
    gauges = gauge_series(shown)
    context = {
        "shown": shown,
        "pending": OutboxRow.objects.filter(project=visit.project).open().count(),
        "ranges": list(DashboardRange),
        "funnel": funnel_bars(funnel_steps(shown.totals)),
        "off_target": [each for each in gauges if each.gauge.is_off_target],
        "on_target": [each for each in gauges if each.gauge.reading.whole and not each.gauge.is_off_target],
        "reasons": reason_series(shown),
        "cost": cost_series(shown),
        "dollars": shown.totals.of(Measure.COST),
        "redacted": redacted_text(shown.totals),
        "calls": int(shown.totals.of(Measure.CALLS)),
        "reading": sessions_to_read(visit.project.pk),
        "has_turns": bool(shown.totals.of(Measure.TURNS)),
    }
    return render(request, "console/dashboard.html", context)
