"""Where people begin: projects, first steps, counts of the navigation, and the palette of commands."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from apps.common.errors import Conflict, Unfit
from apps.console.first_steps import first_steps as read_first_steps
from apps.console.first_steps import is_empty
from apps.console.forms import NewProjectForm
from apps.console.navigation import with_sums
from apps.console.new_rows import count_new_rows
from apps.console.paging import query_param
from apps.console.palette import destinations, search_of_all
from apps.console.permissions import ProjectVisit, project_page, projects_of, visits_of
from apps.projects.services import create_project
from apps.review.selectors.review import pending_counts


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Redirect to the first project of the person, or explain that there is none."""
    projects = projects_of(request.user)
    if not projects:
        return render(request, "console/no_project.html")
    return redirect("console:project", slug=projects[0].slug)


@project_page()
def project(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Redirect to the review queue of the project, or to the first steps while it has no trace."""
    page = "first-steps" if is_empty(project_id=visit.project.pk) else "review"
    return redirect(f"console:{page}", slug=visit.project.slug)


@login_required
def projects(request: HttpRequest) -> HttpResponse:
    """List the projects with one's role; create one."""
    form = NewProjectForm(request.POST or None)
    if request.method == "POST":
        if not request.user.is_superuser:
            raise PermissionDenied("only superusers create projects")
        if form.is_valid() and (slug := _create(form)):
            messages.success(request, "The project is created.")
            return redirect("console:project", slug=slug)
    shown = {"visits": visits_of(request.user), "form": form}
    return render(request, "console/projects.html", shown, status=422 if form.errors else 200)


def _create(form: NewProjectForm) -> str:
    """Return the slug of a new project, "" if it was refused."""
    try:
        return create_project(name=form.cleaned_data["name"], slug=form.cleaned_data["slug"]).slug
    except Conflict:
        form.add_error("slug", "Another project has this address.")
    except Unfit as unfit:
        form.add_error(unfit.at.strip("/"), f"{str(unfit).partition(': ')[2].capitalize().rstrip('.')}.")
    return ""


_COMMAND = """\
curl -s {address} \\
  -H "Authorization: Bearer YOUR_KEY" -H "Content-Type: application/json" \\
  -d '{{"user_id": "kim", "session_id": "monday", "turns": [{{"role": "user", "content": "I live in Lyon."}}]}}'"""


@project_page()
def first_steps(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show the steps, polled until there is a trace; a project with traces has no such page any more."""
    steps, is_poll = read_first_steps(project_id=visit.project.pk), bool(getattr(request, "htmx", False))
    if steps.trace_id and not is_poll:
        return redirect("console:review", slug=visit.project.slug)
    if is_poll and not steps.trace_id and request.GET.get("has_key") == str(int(steps.has_key)):
        return HttpResponse(status=204)  # nothing is new, so focus and selected text stay
    template = "console/_first_steps.html" if is_poll else "console/first_steps.html"
    command = _COMMAND.format(address=request.build_absolute_uri(reverse("turns")))
    return render(request, template, {"steps": steps, "command": command})


@project_page()
def counts(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Return what to put in place of the counts of the page, its banner, and the notice of new rows."""
    known = pending_counts(project_id=visit.project.pk) | {"queue": visit.verdict.readings.dead}
    shown = {
        "counts": with_sums(known, visit=visit),
        "has_banner": "banner" in request.GET,
        "new_rows": count_new_rows(request, project_id=visit.project.pk, slug=visit.project.slug),
    }
    return render(request, "console/_refreshed.html", shown)


_MOST_CHARACTERS = 100


@project_page()
def palette(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Return what a text names, as options of the list in the dialog."""
    text = query_param(request, "q", limit=_MOST_CHARACTERS)
    groups = destinations(visit=visit, text=text)
    total = sum(len(group.entries) for group in groups)
    shown = {"groups": groups, "text": text, "total": total, "further": search_of_all(visit=visit, text=text)}
    return render(request, "console/_palette.html", shown)
