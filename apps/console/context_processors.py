"""Template context of the page frame: navigation, projects and counts of pending decisions."""

from typing import Any

from django.http import HttpRequest

from apps.console.navigation import navigation
from apps.console.permissions import ProjectVisit, projects_of
from apps.console.selectors.pending_counts import pending_counts


def page_frame(request: HttpRequest) -> dict[str, Any]:
    """Return the context of the page frame; fragments and pages outside the console cost no query."""
    visit: ProjectVisit | None = getattr(request, "visit", None)
    if visit is None or getattr(request, "htmx", False):
        return {"visit": visit} if visit else {}
    counts = pending_counts(project_id=visit.project.pk)
    return {
        "visit": visit,
        "navigation": tuple(navigation(visit=visit, path=request.path, counts=counts)),
        "projects": projects_of(request.user),
    }
