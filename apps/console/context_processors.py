"""Template context of the page frame: navigation, projects, counts of pending decisions, and what is wrong."""

from typing import Any

from django.http import HttpRequest

from apps.console.navigation import navigation
from apps.console.permissions import ProjectVisit, visits_of
from apps.review.selectors.review import pending_counts

_TELL_THEMSELVES = frozenset({"dashboard", "alerts"})  # pages that say in detail what is wrong


def page_frame(request: HttpRequest) -> dict[str, Any]:
    """Return the context of the page frame; fragments and pages outside the console cost no query."""
    visit: ProjectVisit | None = getattr(request, "visit", None)
    if visit is None or getattr(request, "htmx", False):
        return {"visit": visit} if visit else {}
    match = request.resolver_match
    page = match.url_name if match else ""
    counts = pending_counts(project_id=visit.project.pk) | {"queue": visit.verdict.readings.dead}
    return {
        "visit": visit,
        "has_banner": page not in _TELL_THEMSELVES,
        "navigation": tuple(navigation(visit=visit, path=request.path, query=request.GET.dict(), counts=counts)),
        "projects": [each.project for each in visits_of(request.user)],
    }
