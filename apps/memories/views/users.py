"""End users and their entities: what agents see, merges, export and erasure."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import Case, Count, OuterRef, Subquery, Value, When
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.common.errors import ProviderError, Refused
from apps.console.labels import count_of
from apps.console.paging import paginate, query_param, whole_number
from apps.console.permissions import ProjectVisit, project_page
from apps.memories.models import Entity, Memory
from apps.memories.selectors.users import entity_graph, facts_over_time
from apps.memories.services.entities import merge_entities, preview_merge, split_entities
from apps.pipeline.core.enums import EntityType, Stakes, Status
from apps.privacy.users import erase_user, export_user, list_users
from apps.retrieval.context import ContextQuery
from apps.search.views import BUDGET, told_to_agent
from apps.tenants.enums import MemberRole
from apps.tenants.models import EndUser

TABS = {"context": "What agents see", "facts": "Facts over time", "timeline": "Timeline", "graph": "Entities"}
MAX_TOKENS = 8_000
MAX_QUERY_CHARACTERS = 2_000


@project_page()
def users(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List end users, filtered by identifier."""
    words = query_param(request, "q")
    rows = EndUser.objects.for_project(visit.project.pk).present()
    if words:
        rows = rows.filter(external_id__icontains=words)
    live = Memory.objects.live().filter(end_user=OuterRef("pk"))
    counted = live.order_by().values("end_user").annotate(rows=Count("pk")).values("rows")
    rows = rows.annotate(live_memories=Coalesce(Subquery(counted), 0)).order_by("-created_at", "id")
    return render(request, "console/users.html", {"page": paginate(rows, request), "words": words})


@project_page()
def user(request: HttpRequest, visit: ProjectVisit, user_id: UUID) -> HttpResponse:
    """Show one tab of an end user."""
    end_user = get_object_or_404(EndUser.objects.for_project(visit.project.pk).present(), pk=user_id)
    tab = request.GET.get("tab", "context")
    tab = tab if tab in TABS else "context"
    memories = Memory.objects.for_end_user(end_user.pk).order_by()
    shown: dict[str, Any] = {}
    if tab == "context":
        shown = _context(request, end_user)
    elif tab == "facts":
        shown = {"facts": facts_over_time(end_user_id=end_user.pk, now=timezone.now())}
    elif tab == "graph":
        shown = {"graph": entity_graph(end_user_id=end_user.pk)}
    else:
        rows, status = memories.to_show().order_by("-said_at", "-id"), request.GET.get("status", "")
        if status in set(Status):
            rows = rows.filter(status=status)
        shown = {"page": paginate(rows, request), "status": status}
    frame = {
        "end_user": end_user,
        "tab": tab,
        "tabs": TABS,
        "status_counts": dict(memories.values_list("status").annotate(rows=Count("id"))),
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
    shown: dict[str, Any] = {"query": block, "stakes": list(Stakes)}
    try:
        told = told_to_agent(end_user, text=block.text, budget=block.token_budget, stakes=block.stakes)
    except ProviderError:
        return shown | {"problem": "The embedder does not answer, so nothing can be ranked. Try again later."}
    return shown | {"told": told}


@project_page(MemberRole.ADMIN)
def export(request: HttpRequest, visit: ProjectVisit, user_id: UUID) -> StreamingHttpResponse:
    """Download everything that is stored about an end user as lines of JSON."""
    user = get_object_or_404(list_users(project_id=visit.project.pk), pk=user_id)
    return StreamingHttpResponse(
        export_user(project_id=visit.project.pk, user_id=user.external_id),
        content_type="application/jsonl",
        headers={"Content-Disposition": f'attachment; filename="{user.shown_id}.jsonl"'},
    )


@project_page(MemberRole.ADMIN, changes_archived=True)
def erase(request: HttpRequest, visit: ProjectVisit, user_id: UUID) -> HttpResponse:
    """Show what would be erased; erase it once the identifier was typed in."""
    user = get_object_or_404(list_users(project_id=visit.project.pk), pk=user_id)
    if request.method != "POST":
        return render(request, "console/user_erasure.html", {"end_user": user})
    if request.POST.get("confirmation", "") != user.external_id:
        shown = {"end_user": user, "problem": "Type the identifier exactly as it is shown."}
        return render(request, "console/user_erasure.html", shown, status=422)
    try:
        erasure = erase_user(project_id=visit.project.pk, user_id=user.external_id)
    except Refused as refused:
        messages.error(request, f"Nothing was erased: {refused}.")
    else:
        rows = count_of(sum(erasure.counts.values()), "row")
        state = "Erased" if erasure.finished_at else "The erasure goes on in the background; so far"
        messages.success(request, f"{state}: {rows}. Receipt {erasure.shown_id}.")
    return redirect("console:users", slug=visit.project.slug)


MAX_FACTS = 200


@project_page()
def entities(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List entities; the search covers all their names."""
    rows = Entity.objects.standing().filter(project=visit.project)
    entity_type, words = query_param(request, "type"), query_param(request, "q")
    if entity_type in set(EntityType):
        rows = rows.filter(type=entity_type)
    if words:
        rows = rows.called(words)
    found = paginate(rows.select_related("end_user").prefetch_related("aliases"), request)
    shown = {"page": found, "types": list(EntityType), "type": entity_type, "words": words}
    return render(request, "console/entities.html", shown)


@project_page()
def entity(request: HttpRequest, visit: ProjectVisit, entity_id: UUID) -> HttpResponse:
    """Show an entity with its names and its current and past facts."""
    rows = Entity.objects.select_related("end_user", "merged_into").prefetch_related("aliases", "merged")
    found = get_object_or_404(rows, project=visit.project, pk=entity_id)
    about = Memory.objects.for_end_user(found.end_user_id).about([found.pk])
    facts = about.to_show().order_by("predicate", "-said_at", "-id")[:MAX_FACTS]
    return render(request, "console/entity.html", {"entity": found, "facts": facts})


MAX_SHOWN = 50  # memories of each kind in a preview


@project_page(MemberRole.REVIEWER)
def choose(request: HttpRequest, visit: ProjectVisit, entity_id: UUID) -> HttpResponse:
    """List the other entities of the same user: same type first, then most mentioned."""
    entity = get_object_or_404(Entity.objects.select_related("end_user"), project=visit.project, pk=entity_id)
    words = query_param(request, "q")
    rows = Entity.objects.standing().filter(end_user=entity.end_user_id).exclude(pk=entity.pk)
    if words:
        rows = rows.called(words)
    type_rank = Case(When(type=entity.type, then=Value(0)), default=Value(1))
    rows = rows.order_by(type_rank, "-mention_count", "id").prefetch_related("aliases")
    return render(
        request, "console/entity_merge.html", {"entity": entity, "page": paginate(rows, request), "words": words}
    )


@project_page(MemberRole.REVIEWER)
def merge(request: HttpRequest, visit: ProjectVisit, entity_id: UUID, into_id: UUID) -> HttpResponse:
    """Preview a merge (GET) or merge (POST)."""
    try:
        if request.method != "POST":
            preview = preview_merge(project_id=visit.project.pk, entity_id=entity_id, into_id=into_id)
            return render(request, "console/entity_merge_preview.html", {"preview": preview, "most": MAX_SHOWN})
        merge_entities(project_id=visit.project.pk, entity_id=entity_id, into_id=into_id)
    except Refused as refused:
        return _refused(request, visit, entity_id, refused)
    undo = reverse("console:split-entity", args=[visit.project.slug, entity_id])
    messages.success(request, "Merged into this entity.", extra_tags=undo)
    return redirect("console:entity", slug=visit.project.slug, entity_id=into_id)


@require_POST
@project_page(MemberRole.REVIEWER)
def split(request: HttpRequest, visit: ProjectVisit, entity_id: UUID) -> HttpResponse:
    """Undo a merge."""
    into = Entity.objects.filter(project=visit.project, pk=entity_id).values_list("merged_into", flat=True).first()
    try:
        split_entities(project_id=visit.project.pk, entity_id=entity_id)
    except Refused as refused:
        return _refused(request, visit, entity_id, refused)
    again = reverse("console:merge-entity", args=[visit.project.slug, entity_id, into])
    messages.success(request, "The merge was undone: these are two entities again.", extra_tags=again)
    return redirect("console:entity", slug=visit.project.slug, entity_id=entity_id)


def _refused(request: HttpRequest, visit: ProjectVisit, entity_id: UUID, refused: Refused) -> HttpResponse:
    get_object_or_404(Entity, project=visit.project, pk=entity_id)
    messages.error(request, f"Nothing was changed: {refused}.")
    return redirect("console:entity", slug=visit.project.slug, entity_id=entity_id)
