"""The start pages."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from apps.console.permissions import ProjectVisit, project_page, projects_of
from apps.console.selectors.first_steps import is_empty


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
