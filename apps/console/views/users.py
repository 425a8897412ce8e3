"""End users: context block, facts over time, timeline and entities."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone

from apps.actions.errors import ProviderError
from apps.actions.memories.explain_recall import RecallRequest, explain_recall
from apps.console.paging import paginate, whole_number
from apps.console.permissions import ProjectVisit, project_page
from apps.console.query_params import query_param
from apps.console.selectors import users as selectors
from apps.console.selectors.explanations import told_block
from apps.console.selectors.users import entity_graph, facts_over_time
from apps.memories.models import Memory
from apps.pipeline.core.enums import Stakes, Status
from apps.retrieval.context import MAX_HITS, ContextQuery
from apps.retrieval.query import SearchQuery
from apps.tenants.models import EndUser

TABS = {"context": "What agents see", "facts": "Facts over time", "timeline": "Timeline", "graph": "Entities"}
BUDGET = 800  # tokens
MAX_TOKENS = 8_000
MAX_QUERY_CHARACTERS = 2_000


@project_page()
def users(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List end users, filtered by identifier."""
    words = query_param(request, "q")
    found = paginate(selectors.end_users(project_id=visit.project.pk, words=words), request)
    return render(request, "console/users.html", {"page": found, "words": words})


@project_page()
def user(request: HttpRequest, visit: ProjectVisit, user_id: UUID) -> HttpResponse:
    """Show one tab of an end user."""
    end_user = get_object_or_404(EndUser.objects.for_project(visit.project.pk).present(), pk=user_id)
    tab = request.GET.get("tab", "context")
    tab = tab if tab in TABS else "context"
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


def _context(request: HttpRequest, end_user: EndUser) -> dict[str, Any]:
    text, stakes = query_param(request, "q", limit=MAX_QUERY_CHARACTERS), request.GET.get("stakes", "")
    block = ContextQuery(
        token_budget=min(max(whole_number(request.GET.get("budget", "")) or BUDGET, 1), MAX_TOKENS),
        text=text,
        stakes=Stakes(stakes) if stakes in set(Stakes) else Stakes.NORMAL,
    )
    query = SearchQuery(text=block.text, limit=MAX_HITS, stakes=block.stakes)
    shown: dict[str, Any] = {"query": block, "stakes": list(Stakes)}
    try:
        found = explain_recall(
            request=RecallRequest(project_id=end_user.project_id, end_user_id=end_user.pk, query=query, block=block)
        )
    except ProviderError:
        return shown | {"problem": "The embedder does not answer, so nothing can be ranked. Try again later."}
    told = told_block(found, found.block, end_user_id=end_user.pk) if found.block else None
    return shown | {"told": told}


def _timeline(request: HttpRequest, end_user: EndUser) -> dict[str, Any]:
    rows = Memory.objects.for_end_user(end_user.pk).to_show()
    status = request.GET.get("status", "")
    if status in set(Status):
        rows = rows.filter(status=status)
    return {"page": paginate(rows.order_by("-said_at", "-id"), request), "status": status}


_TABS: dict[str, Callable[[HttpRequest, EndUser], dict[str, Any]]] = {
    "context": _context,
    "facts": lambda _, end_user: {"facts": facts_over_time(end_user_id=end_user.pk, now=timezone.now())},
    "timeline": _timeline,
    "graph": lambda _, end_user: {"graph": entity_graph(end_user_id=end_user.pk)},
}
