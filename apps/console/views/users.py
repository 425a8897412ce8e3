"""Memory of one user: what an agent is told now, the facts over time, the timeline, the entities."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone

from apps.actions.memories.build_context import ContextRequest, build_context
from apps.console.paging import page_of, whole_number
from apps.console.permissions import Visit, page
from apps.console.selectors import users as selectors
from apps.console.selectors.graph import graph_of
from apps.memories.context import ContextQuery
from apps.memories.models import Memory
from apps.pipeline.core.enums import Stakes, Status
from apps.tenants.models import EndUser

TABS = {"told": "What an agent is told", "facts": "Facts over time", "timeline": "Timeline", "graph": "Entities"}
BUDGET = 800  # tokens
MOST_TOKENS = 8_000


@page()
def users(request: HttpRequest, visit: Visit) -> HttpResponse:
    """List the end users, found by their name."""
    words = request.GET.get("q", "").strip()
    found = page_of(selectors.end_users(project_id=visit.project.pk, words=words), request)
    return render(request, "console/users.html", {"page": found, "words": words})


@page()
def user(request: HttpRequest, visit: Visit, user_id: UUID) -> HttpResponse:
    """Show one end user, one tab at a time."""
    end_user = get_object_or_404(EndUser, project=visit.project, pk=user_id)
    tab = request.GET.get("tab", "told")
    tab = tab if tab in TABS else "told"
    shown = _TABS[tab](request, end_user)
    counts = selectors.count_by_status(end_user_id=end_user.pk)
    frame = {
        "end_user": end_user,
        "tab": tab,
        "tabs": TABS,
        "status_counts": counts,
        "template": f"console/_user_{tab}.html",
    }
    return render(request, "console/user.html", frame | shown)


def _told(request: HttpRequest, end_user: EndUser) -> dict[str, Any]:
    words, stakes = request.GET.get("q", "").strip(), request.GET.get("stakes", "")
    budget = min(whole_number(request.GET.get("budget", "")) or BUDGET, MOST_TOKENS)
    query = ContextQuery(
        token_budget=budget, text=words[:2_000], stakes=Stakes(stakes) if stakes in set(Stakes) else Stakes.NORMAL
    )
    answer = build_context(
        request=ContextRequest(project_id=end_user.project_id, user_id=end_user.external_id, query=query)
    )
    return {"told": answer.block, "query": query, "stakes": list(Stakes)}


def _facts(request: HttpRequest, end_user: EndUser) -> dict[str, Any]:
    return {"slots": selectors.facts_over_time(end_user_id=end_user.pk, now=timezone.now())}


def _timeline(request: HttpRequest, end_user: EndUser) -> dict[str, Any]:
    rows = Memory.objects.for_end_user(end_user.pk).to_show()
    status = request.GET.get("status", "")
    if status in set(Status):
        rows = rows.filter(status=status)
    return {"page": page_of(rows.order_by("-said_at", "-id"), request), "status": status}


def _graph(request: HttpRequest, end_user: EndUser) -> dict[str, Any]:
    return {"graph": graph_of(end_user_id=end_user.pk)}


_TABS = {"told": _told, "facts": _facts, "timeline": _timeline, "graph": _graph}
