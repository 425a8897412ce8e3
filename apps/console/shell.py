"""What every page's frame shows: where one is, where one can go, and how much waits there."""

from typing import Any

from django.http import HttpRequest

from apps.console.navigation import navigation
from apps.console.permissions import Visit, projects_of
from apps.console.selectors.waiting import waiting


def shell(request: HttpRequest) -> dict[str, Any]:
    """Give templates of the console their frame; fragments and other pages cost nothing."""
    visit: Visit | None = getattr(request, "visit", None)
    if visit is None or getattr(request, "htmx", False):
        return {"visit": visit} if visit else {}
    counts = waiting(project_id=visit.project.pk)
    return {
        "visit": visit,
        "navigation": tuple(navigation(visit=visit, path=request.path, counts=counts)),
        "projects": projects_of(request.user),
    }
