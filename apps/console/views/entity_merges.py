"""Merging duplicate entities: choose the other one, preview, merge, undo."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from apps.actions.entities.services import EntityMerge, merge_entities, preview_merge, split_entities
from apps.actions.errors import Refused
from apps.console.paging import paginate
from apps.console.permissions import ProjectVisit, project_page
from apps.console.query_params import query_param
from apps.console.selectors.users import merge_candidates
from apps.memories.models import Entity
from apps.pipeline.core.enums import MemberRole

MAX_SHOWN = 50  # memories of each kind in a preview


@project_page(MemberRole.REVIEWER)
def choose(request: HttpRequest, visit: ProjectVisit, entity_id: UUID) -> HttpResponse:
    """List the other entities of the same user: same type first, then most mentioned."""
    entity = get_object_or_404(Entity.objects.select_related("end_user"), project=visit.project, pk=entity_id)
    words = query_param(request, "q")
    candidates = merge_candidates(entity).prefetch_related("aliases")
    found = paginate(candidates.called(words) if words else candidates, request)
    return render(request, "console/entity_merge.html", {"entity": entity, "page": found, "words": words})


@project_page(MemberRole.REVIEWER)
def merge(request: HttpRequest, visit: ProjectVisit, entity_id: UUID, into_id: UUID) -> HttpResponse:
    """Preview a merge (GET) or merge (POST)."""
    try:
        if request.method != "POST":
            preview = preview_merge(project_id=visit.project.pk, entity_id=entity_id, into_id=into_id)
            return render(request, "console/entity_merge_preview.html", {"preview": preview, "most": MAX_SHOWN})
        merge_entities(merge=EntityMerge(visit.project.pk, entity_id, into_id, person_id=visit.person_id))
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
        split_entities(project_id=visit.project.pk, entity_id=entity_id, person_id=visit.person_id)
    except Refused as refused:
        return _refused(request, visit, entity_id, refused)
    again = reverse("console:merge-entity", args=[visit.project.slug, entity_id, into])
    messages.success(request, "The merge was undone: these are two entities again.", extra_tags=again)
    return redirect("console:entity", slug=visit.project.slug, entity_id=entity_id)


def _refused(request: HttpRequest, visit: ProjectVisit, entity_id: UUID, refused: Refused) -> HttpResponse:
    get_object_or_404(Entity, project=visit.project, pk=entity_id)
    messages.error(request, f"Nothing was changed: {refused}.")
    return redirect("console:entity", slug=visit.project.slug, entity_id=entity_id)
