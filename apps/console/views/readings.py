"""Read stored turns again with the model of the project: the offer, and how far it is."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from apps.actions.errors import Refused
from apps.actions.sessions.read_again import read_again, sessions_to_read
from apps.console.labels import count_of
from apps.console.permissions import ProjectVisit, project_page
from apps.console.progress import progress_part
from apps.pipeline.core.enums import MemberRole


@project_page()
def reading(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show how far the reading is; when it is over, the page is loaded again."""
    found = sessions_to_read(visit.project.pk)
    return progress_part(request, "console/_reading.html", {"reading": found}, is_over=not found.reading)


@require_POST
@project_page(MemberRole.ADMIN)
def read(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Read the sessions again that hold quotes."""
    try:
        enqueued = read_again(visit.project.pk)
    except Refused as refused:
        messages.error(request, f"Nothing will be read: {refused}.")
    else:
        if enqueued:
            messages.success(request, f"{count_of(enqueued, 'session')} will be read again with the model.")
        else:
            messages.info(request, "Nothing was left to read.")
    return redirect("console:dashboard", slug=visit.project.slug)
