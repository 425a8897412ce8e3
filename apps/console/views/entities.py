"""Entities: the people, places and things that memories are about."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from apps.console.paging import page_of
from apps.console.permissions import Visit, page
from apps.memories.models import Entity, Memory
from apps.pipeline.core.enums import EntityType

MOST_FACTS = 200


@page()
def entities(request: HttpRequest, visit: Visit) -> HttpResponse:
    """List entities, those last mentioned first; search finds any name by which one was called."""
    rows = Entity.objects.filter(project=visit.project, merged_into__isnull=True)
    kind, words = request.GET.get("type", ""), request.GET.get("q", "").strip()
    if kind in set(EntityType):
        rows = rows.filter(type=kind)
    if words:
        rows = rows.called(words)
    found = page_of(rows.select_related("end_user").prefetch_related("aliases"), request)
    shown = {"page": found, "kinds": list(EntityType), "kind": kind, "words": words}
    return render(request, "console/entities.html", shown)


@page()
def entity(request: HttpRequest, visit: Visit, entity_id: UUID) -> HttpResponse:
    """Show one entity: its names, and what is or was held to be true of it, newest first."""
    rows = Entity.objects.select_related("end_user", "merged_into").prefetch_related("aliases", "merged")
    found = get_object_or_404(rows, project=visit.project, pk=entity_id)
    about = Memory.objects.for_end_user(found.end_user_id).about(found)
    facts = about.to_show().order_by("predicate", "-said_at", "-id")[:MOST_FACTS]
    return render(request, "console/entity.html", {"entity": found, "facts": facts})
