"""The counts of the navigation, which an open page reads again now and then."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.console.permissions import ProjectVisit, project_page
from apps.console.selectors.pending_counts import pending_counts


@project_page()
def counts(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Return the counts to put in place of those of the page."""
    return render(request, "console/_counts.html", {"counts": pending_counts(project_id=visit.project.pk)})
