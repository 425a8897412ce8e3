"""The project itself: its name, its limits, and whether it is archived."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from apps.console.forms import ProjectForm, ProjectLimitsForm
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import project_action
from apps.outbox.models import OutboxRow
from apps.projects.services import archive_project, restore_project, update_project
from apps.tenants.enums import MemberRole
from apps.tenants.models import Project


@project_page(MemberRole.ADMIN)
def project_settings(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show the project, and change its name and guideline."""
    form = ProjectForm(request.POST or None, instance=Project.objects.get(pk=visit.project.pk))
    if not form.is_valid():
        return _page(request, visit, form=form)
    update_project(project_id=visit.project.pk, changes=form.cleaned_data)
    messages.success(request, "Saved.")
    return redirect(visit.address("project-settings"))


@project_action(page="project-settings")
def limits(request: HttpRequest, visit: ProjectVisit) -> HttpResponse | None:
    """Change the limits of the project; superusers alone may."""
    if not request.user.is_superuser:
        raise PermissionDenied
    form = ProjectLimitsForm(request.POST, instance=Project.objects.get(pk=visit.project.pk))
    if not form.is_valid():
        return _page(request, visit, limits_form=form)
    update_project(project_id=visit.project.pk, changes=form.cleaned_data)
    messages.success(request, "The limits are changed.")
    return None


@project_action(page="project-settings")
def archive(request: HttpRequest, visit: ProjectVisit) -> HttpResponse | None:
    """Archive the project once its name was typed in."""
    if request.POST.get("confirmation", "").strip() != visit.project.name:
        return _page(request, visit, problem="Type the name exactly as it is shown.")
    archive_project(project_id=visit.project.pk)
    messages.success(request, "The project is archived. It can be restored at any time.")
    return None


@project_action(page="project-settings", changes_archived=True)
def restore(request: HttpRequest, visit: ProjectVisit) -> None:
    """Restore an archived project."""
    restore_project(project_id=visit.project.pk)
    messages.success(request, "The project is restored: it takes turns again, and its queue continues.")


def _page(
    request: HttpRequest,
    visit: ProjectVisit,
    *,
    form: ProjectForm | None = None,
    limits_form: ProjectLimitsForm | None = None,
    problem: str = "",
) -> HttpResponse:
    shown = {
        "form": form or ProjectForm(instance=visit.project),
        "limits_form": limits_form or (request.user.is_superuser and ProjectLimitsForm(instance=visit.project)),
        "problem": problem,
        "pending": OutboxRow.objects.filter(project=visit.project).open().count(),
    }
    # What was sent and leads here was wrong.
    return render(request, "console/project.html", shown, status=422 if request.method == "POST" else 200)
