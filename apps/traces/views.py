"""Traces of requests, and sessions that are read again."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from apps.console.generic import ProjectDetailView, ProjectListView
from apps.console.labels import count_of, names_of
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import progress_part, project_action
from apps.intake.read_again import read_again, sessions_to_read
from apps.traces.filters import LATEST, TraceFilter
from apps.traces.models import Trace
from apps.traces.selectors import listed_traces, parse_trace_id, title_of, trace_details

COUNTED = ("stored", "merged", "superseded", "pending_review", "discarded")  # shown in each row of the list


class TraceListView(ProjectListView):
    """List traces; searching for a trace identifier opens the trace."""

    template_name = "console/traces.html"
    queryset = listed_traces()
    filterset_class = TraceFilter
    paginate_by = 25
    extra_context = {"latest": LATEST, "counted": COUNTED}

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Open the trace that is named, else list."""
        named = parse_trace_id(request.GET.get("q", "").strip())
        return redirect(self.visit.address("trace", named)) if named else super().get(request, *args, **kwargs)

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Add the titles, and from when on a trace is new."""
        shown = super().get_context_data(**context)
        rows, is_first = shown["object_list"], shown["page"].number == 1
        shown_at = rows[0].created_at if rows and is_first else timezone.now()
        return shown | {"listed": [(each, title_of(each)) for each in rows], "shown_at": shown_at}


class TraceDetailView(ProjectDetailView):
    """Show a trace: funnel, turns, stages, model calls, memories and the plan."""

    template_name = "console/trace.html"
    queryset = Trace.objects.select_related("end_user", "session", "configuration").defer("configuration__policy")
    pk_url_kwarg = "trace_id"

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Add the details, and who rolled it back."""
        shown = super().get_context_data(**context) | trace_details(self.object)
        if shown["rollback"]:
            actor = shown["rollback"].actor
            shown["rolled_back_by"] = names_of([actor])[actor]
        return shown


@project_page()
def reading(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show how far the reading is; when it is over, the page is loaded again."""
    found = sessions_to_read(visit.project.pk)
    return progress_part(request, "console/_reading.html", {"reading": found}, is_over=not found.reading)


@project_action(page="dashboard", outcome="Nothing will be read")
def read(request: HttpRequest, visit: ProjectVisit) -> None:
    """Read the sessions again that hold quotes."""
    enqueued = read_again(visit.project.pk)
    if enqueued:
        messages.success(request, f"{count_of(enqueued, 'session')} will be read again with the model.")
    else:
        messages.info(request, "Nothing was left to read.")
