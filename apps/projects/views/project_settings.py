"""The project itself: its name, its limits, and whether it is archived."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from apps.console.forms import ProjectForm, ProjectLimitsForm
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import refusals_told
from apps.outbox.models import OutboxRow
from apps.projects.services import archive_project, restore_project, update_project
from apps.tenants.enums import MemberRole
from apps.tenants.models import Project


@project_page(MemberRole.ADMIN)
def project_settings(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show the project, and change its name and guideline."""
    form = ProjectForm(request.POST) if request.method == "POST" else _project_form(visit)
    if request.method == "POST" and form.is_valid():
        update_project(project_id=visit.project.pk, changes=form.cleaned_data)
        messages.success(request, "Saved.")
        return redirect("console:project-settings", slug=visit.project.slug)
    return _page(request, visit, form)


@require_POST
@project_page(MemberRole.ADMIN)
def limits(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Change the limits of the project; superusers alone may."""
    if not request.user.is_superuser:
        raise PermissionDenied
    form = ProjectLimitsForm(request.POST, instance=Project.objects.get(pk=visit.project.pk))
    if not form.is_valid():
        return _page(request, visit, _project_form(visit), limits_form=form)
    update_project(project_id=visit.project.pk, changes=form.cleaned_data)
    messages.success(request, "The limits are changed.")
    return redirect("console:project-settings", slug=visit.project.slug)


@require_POST
@project_page(MemberRole.ADMIN)
def archive(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Archive the project once its name was typed in."""
    if request.POST.get("confirmation", "").strip() != visit.project.name:
        return _page(request, visit, _project_form(visit), problem="Type the name exactly as it is shown.")
    with refusals_told(request):
        archive_project(project_id=visit.project.pk)
        messages.success(request, "The project is archived. It can be restored at any time.")
    return redirect("console:project-settings", slug=visit.project.slug)


@require_POST
@project_page(MemberRole.ADMIN, changes_archived=True)
def restore(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Restore an archived project."""
    with refusals_told(request):
        restore_project(project_id=visit.project.pk)
        messages.success(request, "The project is restored: it takes turns again, and its queue continues.")
    return redirect("console:project-settings", slug=visit.project.slug)


def _project_form(visit: ProjectVisit) -> ProjectForm:
    project = visit.project
    return ProjectForm(initial={"name": project.name, "review_guideline": project.review_guideline})


def _page(
    request: HttpRequest,
    visit: ProjectVisit,
    form: ProjectForm,
    *,
    problem: str = "",
    limits_form: ProjectLimitsForm | None = None,
) -> HttpResponse:
    if limits_form is None and request.user.is_superuser:
        limits_form = ProjectLimitsForm(instance=visit.project)
    shown = {
        "form": form,
        "limits_form": limits_form,
        "problem": problem,
        "pending": OutboxRow.objects.filter(project=visit.project).open().count(),
    }
    is_wrong = problem or form.errors or (limits_form is not None and limits_form.errors)
    return render(request, "console/project.html", shown, status=422 if is_wrong else 200)
