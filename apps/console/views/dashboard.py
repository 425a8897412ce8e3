"""Dashboard: whether the funnel is healthy."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from apps.console.permissions import Visit, page
from apps.console.selectors.dashboard import dashboard as read_dashboard
from apps.console.selectors.dashboard import funnel_of
from apps.console.selectors.periods import Step, period_of
from apps.console.selectors.pictures import funnel
from apps.console.selectors.plots import cost_plot, gauge_plots, reasons_plot
from apps.pipeline.core.funnel_metrics import Measure


@page()
def dashboard(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show a period of a project: alerts, the funnel, each share in its band, reasons, cost, speed."""
    step = request.GET.get("by", "")
    period = period_of(Step(step) if step in set(Step) else Step.DAY, now=timezone.now())
    shown = read_dashboard(project_id=visit.project.pk, period=period)
    context = {
        "shown": shown,
        "steps": list(Step),
        "funnel": funnel(funnel_of(shown.totals)),
        "gauges": gauge_plots(shown),
        "reasons": reasons_plot(shown),
        "cost": cost_plot(shown),
        "dollars": shown.totals.of(Measure.COST),
        "calls": int(shown.totals.of(Measure.CALLS)),
        "has_turns": bool(shown.totals.of(Measure.TURNS)),
    }
    return render(request, "console/dashboard.html", context)
