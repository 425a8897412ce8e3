"""Where people begin: projects, first steps, counts of the navigation, and the palette of commands."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from apps.common.errors import Conflict, Unfit
from apps.console.forms import NewProjectForm
from apps.console.navigation import with_sums
from apps.console.paging import moment_of, query_param
from apps.console.palette import destinations, search_of_all
from apps.console.permissions import ProjectVisit, project_page, visits_of
from apps.pipeline.core.enums import Scope
from apps.projects.services import create_project
from apps.review.selectors.review import ReviewFilters, pending_counts, review_queue
from apps.tenants.models import ApiKey, Project
from apps.traces.filters import TraceFilter
from apps.traces.models import Trace


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Redirect to the first project of the person, or explain that there is none."""
    visits = visits_of(request.user)
    return redirect(visits[0].address("project")) if visits else render(request, "console/no_project.html")


@project_page()
def project(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Redirect to the review queue of the project, or to the first steps while it has no trace."""
    page = "review" if _first_trace(visit.project) else "first-steps"
    return redirect(visit.address(page))


@login_required
def projects(request: HttpRequest) -> HttpResponse:
    """List the projects with one's role; create one."""
    form = NewProjectForm(request.POST or None)
    if request.method == "POST":
        if not request.user.is_superuser:
            raise PermissionDenied("only superusers create projects")
        if form.is_valid():
            try:
                created = create_project(name=form.cleaned_data["name"], slug=form.cleaned_data["slug"])
            except Conflict:
                form.add_error("slug", "Another project has this address.")
            except Unfit as unfit:
                form.add_error(unfit.at.strip("/"), f"{str(unfit).partition(': ')[2].capitalize().rstrip('.')}.")
            else:
                messages.success(request, "The project is created.")
                return redirect("console:project", slug=created.slug)
    shown = {"visits": visits_of(request.user), "form": form}
    return render(request, "console/projects.html", shown, status=422 if form.errors else 200)


_COMMAND = """\
curl -s {address} \\
  -H "Authorization: Bearer YOUR_KEY" -H "Content-Type: application/json" \\
  -d '{{"user_id": "kim", "session_id": "monday", "turns": [{{"role": "user", "content": "I live in Lyon."}}]}}'"""


@project_page()
def first_steps(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show the steps, polled until there is a trace; a project with traces has no such page any more."""
    is_valid = Q(revoked_at=None) & (Q(expires_at=None) | Q(expires_at__gt=timezone.now()))
    has_key = ApiKey.objects.filter(is_valid, project=visit.project, scopes__contains=[Scope.WRITE.value]).exists()
    trace_id, is_poll = _first_trace(visit.project), bool(getattr(request, "htmx", False))
    if trace_id and not is_poll:
        return redirect(visit.address("review"))
    if is_poll and not trace_id and request.GET.get("has_key") == str(int(has_key)):
        return HttpResponse(status=204)  # nothing is new, so focus and selected text stay
    template = "console/_first_steps.html" if is_poll else "console/first_steps.html"
    command = _COMMAND.format(address=request.build_absolute_uri(reverse("turns")))
    return render(request, template, {"has_key": has_key, "trace_id": trace_id, "command": command})


def _first_trace(project: Project) -> UUID | None:
    return Trace.objects.filter(project=project).order_by().values_list("id", flat=True).first()


@project_page()
def counts(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Return what to put in place of the counts of the page, its banner, and the notice of new rows."""
    known = pending_counts(project_id=visit.project.pk) | {"queue": visit.verdict.readings.dead}
    name, shown_at = query_param(request, "list"), moment_of(query_param(request, "shown_at"))
    new_rows = None  # of the list that the query string names, since it was shown
    if name in _LISTS and shown_at is not None:
        rows = _LISTS[name](request, visit.project.pk).filter(created_at__gt=shown_at).order_by()
        count = rows.values("pk")[:MOST_COUNTED].count()
        filters = request.GET.copy()
        for each in _NO_FILTERS:
            filters.pop(each, None)
        address = reverse(f"console:{name}", args=[visit.project.slug])
        new_rows = {
            "count": count,
            "is_capped": count == MOST_COUNTED,
            "address": f"{address}?{filters.urlencode()}" if filters else address,
        }
    shown = {
        "counts": with_sums(known, visit=visit),
        "has_banner": "banner" in request.GET,
        "new_rows": new_rows,
    }
    return render(request, "console/_refreshed.html", shown)


# The lists that tell about new rows, as their filters in the query string narrow them.
_LISTS: dict[str, Callable[[HttpRequest, UUID], QuerySet[Any]]] = {
    "traces": lambda request, project_id: (
        TraceFilter(request.GET, queryset=Trace.objects.filter(project_id=project_id), request=request).qs
    ),
    "review": lambda request, project_id: review_queue(project_id=project_id, filters=ReviewFilters.of(request)),
}
MOST_COUNTED = 100
_NO_FILTERS = ("list", "shown_at", "banner", "page", "open")


_MOST_CHARACTERS = 100


@project_page()
def palette(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Return what a text names, as options of the list in the dialog."""
    text = query_param(request, "q", limit=_MOST_CHARACTERS)
    groups = destinations(visit=visit, text=text)
    total = sum(len(entries) for _, entries in groups)
    shown = {"groups": groups, "text": text, "total": total, "further": search_of_all(visit=visit, text=text)}
    return render(request, "console/_palette.html", shown)
