"""What an open page reads again now and then: counts of the navigation, the banner, and how many rows are new."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.console.permissions import ProjectVisit, project_page
from apps.console.selectors.new_rows import count_new_rows
from apps.console.selectors.review import pending_counts
from apps.console.selectors.trouble import find_trouble


@project_page()
def counts(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Return what to put in place of the counts of the page, its banner, and the notice of new rows."""
    trouble = find_trouble(project_id=visit.project.pk, is_archived=visit.is_archived)
    shown = {
        "counts": pending_counts(project_id=visit.project.pk) | {"queue": trouble.failed},
        "trouble": trouble,
        "has_banner": "banner" in request.GET,
        "new_rows": count_new_rows(request, project_id=visit.project.pk, slug=visit.project.slug),
    }
    return render(request, "console/_refreshed.html", shown)
