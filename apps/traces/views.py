"""Traces of requests, and sessions that are read again."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.common.errors import Refused
from apps.console.labels import count_of, label, names_of
from apps.console.paging import paginate, query_param
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import progress_part
from apps.intake.read_again import read_again, sessions_to_read
from apps.pipeline.core.enums import Reason, TraceStatus
from apps.tenants.enums import MemberRole
from apps.traces.models import Trace
from apps.traces.selectors import (
    LATEST,
    parse_trace_id,
    search_traces,
    title_of,
    trace_details,
)

COUNTED = ("stored", "merged", "superseded", "pending_review", "discarded")  # shown in each row of the list


@project_page()
def traces(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List traces; searching for a trace identifier opens the trace."""
    text = query_param(request, "q")
    if (named := parse_trace_id(text)) is not None:
        return redirect("console:trace", slug=visit.project.slug, trace_id=named)
    found = paginate(search_traces(request, project_id=visit.project.pk), request, size=25)
    shown = {
        "page": found,
        "listed": [(each, title_of(each)) for each in found.rows],
        "query": request.GET,
        "statuses": list(TraceStatus),
        # A reason that was stored by other rules than today's stays chosen.
        "reasons": sorted({*Reason, *filter(None, [query_param(request, "reason")])}, key=label),
        "latest": LATEST,
        "counted": COUNTED,
        "shown_at": found.rows[0].created_at if found.rows and found.number == 1 else timezone.now(),
    }
    return render(request, "console/traces.html", shown)


@project_page()
def trace(request: HttpRequest, visit: ProjectVisit, trace_id: UUID) -> HttpResponse:
    """Show a trace: funnel, turns, stages, model calls, memories and the plan."""
    rows = Trace.objects.select_related("end_user", "session", "configuration").defer("configuration__policy")
    shown = trace_details(get_object_or_404(rows, project=visit.project, pk=trace_id))
    if shown["rollback"]:
        actor = shown["rollback"].actor
        shown["rolled_back_by"] = names_of([actor])[actor]
    return render(request, "console/trace.html", shown)


@project_page()
def reading(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show how far the reading is; when it is over, the page is loaded again."""
    found = sessions_to_read(visit.project.pk)
    return progress_part(request, "console/_reading.html", {"reading": found}, is_over=not found.reading)


@require_POST
@project_page(MemberRole.ADMIN)
def read(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Read the sessions again that hold quotes."""
    try:
        enqueued = read_again(visit.project.pk)
    except Refused as refused:
        messages.error(request, f"Nothing will be read: {refused}.")
    else:
        if enqueued:
            messages.success(request, f"{count_of(enqueued, 'session')} will be read again with the model.")
        else:
            messages.info(request, "Nothing was left to read.")
    return redirect("console:dashboard", slug=visit.project.slug)
