"""Template context of the page frame: navigation, projects, counts of pending decisions, and what is wrong."""

from typing import Any

from django.http import HttpRequest

from apps.console.navigation import navigation
from apps.console.permissions import ProjectVisit, projects_of
from apps.console.selectors.review import pending_counts
from apps.console.selectors.trouble import find_trouble

_TELL_THEMSELVES = frozenset({"dashboard", "queue", "alerts"})  # pages that say in detail what is wrong


def page_frame(request: HttpRequest) -> dict[str, Any]:
    """Return the context of the page frame; fragments and pages outside the console cost no query."""
    visit: ProjectVisit | None = getattr(request, "visit", None)
    if visit is None or getattr(request, "htmx", False):
        return {"visit": visit} if visit else {}
    trouble = find_trouble(project_id=visit.project.pk, is_archived=visit.is_archived)
    counts = pending_counts(project_id=visit.project.pk) | {"queue": trouble.failed}
    match = request.resolver_match
    return {
        "visit": visit,
        "trouble": trouble,
        "has_banner": match is None or match.url_name not in _TELL_THEMSELVES,
        "navigation": tuple(navigation(visit=visit, path=request.path, query=request.GET.dict(), counts=counts)),
        "projects": projects_of(request.user),
    }
