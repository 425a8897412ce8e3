"""Merging two entities that are one: pick the other one, see what would change, merge, take it back."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from apps.actions.entities.merge_entities import EntityMerge, merge_entities
from apps.actions.entities.preview_merge import preview_merge
from apps.actions.entities.split_entities import split_entities
from apps.actions.errors import Refused
from apps.console.asked import asked
from apps.console.paging import page_of
from apps.console.permissions import Visit, page
from apps.console.selectors.others import others_than
from apps.memories.models import Entity
from apps.pipeline.core.enums import MemberRole

MOST_SHOWN = 50  # memories of each kind in a preview


@page(MemberRole.REVIEWER)
def choose(request: HttpRequest, visit: Visit, entity_id: UUID) -> HttpResponse:
    """List the other entities of the same user: of the same kind first, those mentioned most above."""
    entity = get_object_or_404(Entity.objects.select_related("end_user"), project=visit.project, pk=entity_id)
    words = asked(request, "q")
    others = others_than(entity).prefetch_related("aliases")
    found = page_of(others.called(words) if words else others, request)
    return render(request, "console/entity_merge.html", {"entity": entity, "page": found, "words": words})


@page(MemberRole.REVIEWER)
def merge(request: HttpRequest, visit: Visit, entity_id: UUID, into_id: UUID) -> HttpResponse:
    """Show what a merge would change; merge."""
    if request.method == "POST":
        return _merged(request, visit, entity_id, into_id)
    try:
        preview = preview_merge(project_id=visit.project.pk, entity_id=entity_id, into_id=into_id)
    except Refused as refused:
        return _refused(request, visit, entity_id, refused)
    return render(request, "console/entity_merge_preview.html", {"preview": preview, "most": MOST_SHOWN})


@require_POST
@page(MemberRole.REVIEWER)
def split(request: HttpRequest, visit: Visit, entity_id: UUID) -> HttpResponse:
    """Take a merge back."""
    into = Entity.objects.filter(project=visit.project, pk=entity_id).values_list("merged_into", flat=True).first()
    try:
        split_entities(project_id=visit.project.pk, entity_id=entity_id, person_id=visit.person_id)
    except Refused as refused:
        return _refused(request, visit, entity_id, refused)
    again = reverse("console:merge-entity", args=[visit.project.slug, entity_id, into])
    messages.success(request, "Taken back: these are two again.", extra_tags=again)
    return redirect("console:entity", slug=visit.project.slug, entity_id=entity_id)


def _merged(request: HttpRequest, visit: Visit, entity_id: UUID, into_id: UUID) -> HttpResponse:
    try:
        merge_entities(merge=EntityMerge(visit.project.pk, entity_id, into_id, person_id=visit.person_id))
    except Refused as refused:
        return _refused(request, visit, entity_id, refused)
    undo = reverse("console:split-entity", args=[visit.project.slug, entity_id])
    messages.success(request, "Merged: this one stands for both.", extra_tags=undo)
    return redirect("console:entity", slug=visit.project.slug, entity_id=into_id)


def _refused(request: HttpRequest, visit: Visit, entity_id: UUID, refused: Refused) -> HttpResponse:
    get_object_or_404(Entity, project=visit.project, pk=entity_id)
    messages.error(request, f"Nothing was changed: {refused}.")
    return redirect("console:entity", slug=visit.project.slug, entity_id=entity_id)
