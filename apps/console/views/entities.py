"""Entities: the people, places and things that memories are about."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from apps.console.paging import paginate
from apps.console.permissions import ProjectVisit, project_page
from apps.console.query_params import query_param
from apps.memories.models import Entity, Memory
from apps.pipeline.core.enums import EntityType

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
    about = Memory.objects.for_end_user(found.end_user_id).about(found)
    facts = about.to_show().order_by("predicate", "-said_at", "-id")[:MAX_FACTS]
    return render(request, "console/entity.html", {"entity": found, "facts": facts})
