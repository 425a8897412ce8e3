"""The projects of a person; superusers create further ones."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from apps.actions.errors import Conflict, Unfit
from apps.actions.projects import create_project
from apps.console.forms import NewProjectForm
from apps.console.permissions import visits_of


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
