"""The project itself: its name, and whether it is archived."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from apps.actions.errors import Refused
from apps.actions.projects.archive_project import archive_project
from apps.actions.projects.restore_project import restore_project
from apps.actions.projects.update_project import update_project
from apps.console.forms import ProjectNameForm
from apps.console.permissions import ProjectVisit, project_page
from apps.console.selectors.dashboard import queue_state
from apps.pipeline.core.enums import MemberRole


@project_page(MemberRole.ADMIN)
def project_settings(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show the project, and rename it."""
    form = ProjectNameForm(request.POST or None, initial={"name": visit.project.name})
    if request.method == "POST" and form.is_valid():
        update_project(project_id=visit.project.pk, changes={"name": form.cleaned_data["name"]})
        messages.success(request, "The project is renamed.")
        return redirect("console:project-settings", slug=visit.project.slug)
    return _page(request, visit, form)


@require_POST
@project_page(MemberRole.ADMIN)
def archive(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Archive the project once its name was typed in."""
    if request.POST.get("confirmation", "").strip() != visit.project.name:
        form = ProjectNameForm(initial={"name": visit.project.name})
        return _page(request, visit, form, problem="Type the name exactly as it is shown.")
    try:
        archive_project(project_id=visit.project.pk)
    except Refused as refused:
        messages.error(request, f"Nothing was changed: {refused}.")
    else:
        messages.success(request, "The project is archived. It can be restored at any time.")
    return redirect("console:project-settings", slug=visit.project.slug)


@require_POST
@project_page(MemberRole.ADMIN, changes_archived=True)
def restore(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Restore an archived project."""
    try:
        restore_project(project_id=visit.project.pk)
    except Refused as refused:
        messages.error(request, f"Nothing was changed: {refused}.")
    else:
        messages.success(request, "The project is restored: it takes turns again, and its queue continues.")
    return redirect("console:project-settings", slug=visit.project.slug)


def _page(request: HttpRequest, visit: ProjectVisit, form: ProjectNameForm, *, problem: str = "") -> HttpResponse:
    shown = {"form": form, "problem": problem, "queue": queue_state(project_id=visit.project.pk)}
    return render(request, "console/project.html", shown, status=422 if form.errors or problem else 200)
