"""Traces: how each request was processed, and why something was not remembered."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from apps.console.labels import label
from apps.console.paging import paginate
from apps.console.permissions import ProjectVisit, project_page
from apps.console.query_params import query_param
from apps.console.selectors.explanations import explain_turns
from apps.console.selectors.people import names_of
from apps.console.selectors.traces import (
    LATEST,
    TraceSearch,
    list_traces,
    load_trace,
    parse_trace_id,
    search_traces,
    search_turns,
    split_words,
)
from apps.pipeline.core.enums import Reason, TraceStatus
from apps.traces.models import Trace

MAX_TURNS = 20
COUNTED = ("stored", "merged", "superseded", "pending_review", "discarded")  # shown in each row of the list


@project_page()
def traces(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List traces; searching for a trace identifier opens the trace."""
    text = query_param(request, "q")
    if (named := parse_trace_id(text)) is not None:
        return redirect("console:trace", slug=visit.project.slug, trace_id=named)
    search = TraceSearch.of(request)
    found = paginate(search_traces(project_id=visit.project.pk, search=search), request, size=25)
    shown = {
        "page": found,
        "listed": list_traces(found.rows),
        "search": search,
        "query": request.GET,
        "statuses": list(TraceStatus),
        # A reason that was stored by other rules than today's stays chosen.
        "reasons": sorted({*Reason, *filter(None, [search.reason])}, key=label),
        "latest": LATEST,
        "counted": COUNTED,
        "shown_at": found.rows[0].created_at if found.rows and found.number == 1 else timezone.now(),
    }
    return render(request, "console/traces.html", shown)


@project_page()
def trace(request: HttpRequest, visit: ProjectVisit, trace_id: UUID) -> HttpResponse:
    """Show a trace: funnel, turns, stages, model calls, memories and the plan."""
    rows = Trace.objects.select_related("end_user", "session", "configuration").defer("configuration__policy")
    shown = load_trace(get_object_or_404(rows, project=visit.project, pk=trace_id))
    by = names_of([shown.rollback.actor]) if shown.rollback else {}
    return render(request, "console/trace.html", {"detail": shown, "rolled_back_by": next(iter(by.values()), "")})


@project_page()
def why_not(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Find turns and explain why each was or was not remembered."""
    user, text = query_param(request, "user"), query_param(request, "q")
    found = []
    if text or user:
        rows = search_turns(project_id=visit.project.pk, user=user, words=split_words(text))
        found = explain_turns(rows[:MAX_TURNS])
    shown = {"searched_user": user, "text": text, "explanations": found, "most": MAX_TURNS, "latest": LATEST}
    return render(request, "console/why_not.html", shown)
