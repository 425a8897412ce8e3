"""Where one lands."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from apps.console.permissions import Visit, page, projects_of


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Open the first project of the person, or say kindly that there is none."""
    projects = projects_of(request.user)
    if not projects:
        return render(request, "console/no_project.html")
    return redirect("console:project", slug=projects[0].slug)


@page()
def project(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Open the project where work waits first."""
    return redirect("console:review", slug=visit.project.slug)
