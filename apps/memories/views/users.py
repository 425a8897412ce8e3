"""End users and their entities: what agents see, merges, export and erasure."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import Case, Count, OuterRef, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from apps.common.errors import Refused
from apps.console.choices import MAX_TOKENS
from apps.console.generic import ProjectDetailView, ProjectListView
from apps.console.labels import count_of
from apps.console.paging import paginate, query_param, whole_number
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import download, project_action, refusals_told
from apps.memories.filters import EntityFilter, NameFilter, UserFilter
from apps.memories.models import Entity, Memory
from apps.memories.selectors.users import entity_graph, facts_over_time
from apps.memories.services.entities import merge_entities, preview_merge, split_entities
from apps.pipeline.core.enums import Stakes, Status
from apps.privacy.users import erase_user, export_user, list_users
from apps.retrieval.context import MAX_HITS
from apps.retrieval.query import SearchQuery
from apps.retrieval.search import MAX_QUERY_CHARACTERS
from apps.retrieval.views import BUDGET, told_to_agent
from apps.tenants.enums import MemberRole
from apps.tenants.models import EndUser

TABS = {"context": "What agents see", "facts": "Facts over time", "timeline": "Timeline", "graph": "Entities"}

_LIVE = Memory.objects.live().filter(end_user=OuterRef("pk")).order_by().values("end_user")
_LIVE_COUNT = Coalesce(Subquery(_LIVE.annotate(rows=Count("pk")).values("rows")), 0)


class UserListView(ProjectListView):
    """List end users, filtered by identifier."""

    template_name = "console/users.html"
    queryset = EndUser.objects.present().annotate(live_memories=_LIVE_COUNT).order_by("-created_at", "id")
    filterset_class = UserFilter


class UserDetailView(ProjectDetailView):
    """Show one tab of an end user."""

    template_name = "console/user.html"
    queryset = EndUser.objects.present()
    pk_url_kwarg = "user_id"
    context_object_name = "end_user"

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Add what the tab shows."""
        request, end_user = self.request, self.object
        tab = request.GET.get("tab", "")
        tab = tab if tab in TABS else "context"
        memories = Memory.objects.for_end_user(end_user.pk).order_by()
        shown = super().get_context_data(**context) | {
            "tab": tab,
            "tabs": TABS,
            "status_counts": dict(memories.values_list("status").annotate(rows=Count("id"))),
            "template": f"console/_user_{tab}.html",
        }
        if tab == "context":
            stakes = request.GET.get("stakes", "")
            asked = SearchQuery(
                text=query_param(request, "q", limit=MAX_QUERY_CHARACTERS),
                limit=MAX_HITS,
                stakes=Stakes(stakes) if stakes in set(Stakes) else Stakes.NORMAL,
            )
            budget = min(max(whole_number(request.GET.get("budget", "")) or BUDGET, 1), MAX_TOKENS)
            shown |= {"query": asked, "budget": budget, "stakes": list(Stakes)}
            return shown | told_to_agent(end_user, asked, token_budget=budget)
        if tab == "facts":
            return shown | {"facts": facts_over_time(end_user_id=end_user.pk, now=timezone.now())}
        if tab == "graph":
            return shown | {"graph": entity_graph(end_user_id=end_user.pk)}
        rows, status = memories.to_show().order_by("-said_at", "-id"), request.GET.get("status", "")
        if status in set(Status):
            rows = rows.filter(status=status)
        return shown | {"page": paginate(rows, request), "status": status}


@project_page(MemberRole.ADMIN)
def export(request: HttpRequest, visit: ProjectVisit, user_id: UUID) -> StreamingHttpResponse:
    """Download everything that is stored about an end user as lines of JSON."""
    user = get_object_or_404(list_users(project_id=visit.project.pk), pk=user_id)
    return download(export_user(project_id=visit.project.pk, user_id=user.external_id), f"{user.shown_id}.jsonl")


@project_page(MemberRole.ADMIN, changes_archived=True)
def erase(request: HttpRequest, visit: ProjectVisit, user_id: UUID) -> HttpResponse:
    """Show what would be erased; erase it once the identifier was typed in."""
    user = get_object_or_404(list_users(project_id=visit.project.pk), pk=user_id)
    if request.method != "POST":
        return render(request, "console/user_erasure.html", {"end_user": user})
    if request.POST.get("confirmation", "") != user.external_id:
        shown = {"end_user": user, "problem": "Type the identifier exactly as it is shown."}
        return render(request, "console/user_erasure.html", shown, status=422)
    with refusals_told(request, outcome="Nothing was erased", tells_absence=True):
        erasure = erase_user(project_id=visit.project.pk, user_id=user.external_id)
        rows = count_of(sum(erasure.counts.values()), "row")
        state = "Erased" if erasure.finished_at else "The erasure goes on in the background; so far"
        messages.success(request, f"{state}: {rows}. Receipt {erasure.shown_id}.")
    return redirect(visit.address("users"))


MAX_FACTS = 200


class EntityListView(ProjectListView):
    """List entities; the search covers all their names."""

    template_name = "console/entities.html"
    queryset = Entity.objects.standing().select_related("end_user").prefetch_related("aliases")
    filterset_class = EntityFilter


class EntityDetailView(ProjectDetailView):
    """Show an entity with its names and its current and past facts."""

    template_name = "console/entity.html"
    queryset = Entity.objects.select_related("end_user", "merged_into").prefetch_related("aliases", "merged")
    pk_url_kwarg = "entity_id"

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Add the facts."""
        about = Memory.objects.for_end_user(self.object.end_user_id).about([self.object.pk])
        facts = about.to_show().order_by("predicate", "-said_at", "-id")[:MAX_FACTS]
        return super().get_context_data(**context) | {"facts": facts}


MAX_SHOWN = 50  # memories of each kind in a preview


class OtherEntityListView(ProjectListView):
    """List the entities into which an entity can be merged, of the same user: same type first, then most mentioned."""

    role = MemberRole.REVIEWER
    template_name = "console/entity_merge.html"
    filterset_class = NameFilter

    def get_queryset(self) -> QuerySet[Entity]:
        """Return the other entities of the user."""
        entity = get_object_or_404(Entity, project=self.visit.project, pk=self.kwargs["entity_id"])
        self.extra_context = {"entity": entity}
        type_rank = Case(When(type=entity.type, then=Value(0)), default=Value(1))
        others = Entity.objects.standing().filter(end_user=entity.end_user_id).exclude(pk=entity.pk)
        self.queryset = others.order_by(type_rank, "-mention_count", "id").prefetch_related("aliases")
        return super().get_queryset()


@project_page(MemberRole.REVIEWER)
def merge(request: HttpRequest, visit: ProjectVisit, entity_id: UUID, into_id: UUID) -> HttpResponse:
    """Preview a merge (GET) or merge (POST)."""
    try:
        if request.method != "POST":
            preview = preview_merge(project_id=visit.project.pk, entity_id=entity_id, into_id=into_id)
            return render(request, "console/entity_merge_preview.html", {"preview": preview, "most": MAX_SHOWN})
        merge_entities(project_id=visit.project.pk, entity_id=entity_id, into_id=into_id)
    except Refused as refused:
        get_object_or_404(Entity, project=visit.project, pk=entity_id)
        messages.error(request, f"Nothing was changed: {refused}.")
        return redirect(visit.address("entity", entity_id))
    undo = visit.address("split-entity", entity_id)
    messages.success(request, "Merged into this entity.", extra_tags=undo)
    return redirect(visit.address("entity", into_id))


@project_action(MemberRole.REVIEWER, page="entity", row="entity_id")
def split(request: HttpRequest, visit: ProjectVisit, entity_id: UUID) -> None:
    """Undo a merge."""
    into = Entity.objects.filter(project=visit.project, pk=entity_id).values_list("merged_into", flat=True).first()
    split_entities(project_id=visit.project.pk, entity_id=entity_id)
    again = visit.address("merge-entity", entity_id, into)
    messages.success(request, "The merge was undone: these are two entities again.", extra_tags=again)
