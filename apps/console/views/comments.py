"""Comments of reviewers on memories and pairs."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST

from apps.actions.errors import Refused
from apps.actions.review.services import comment_on_memory
from apps.console.permissions import ProjectVisit, project_page
from apps.console.query_params import identifier_of
from apps.console.review_forms import acting_person, refusal_response
from apps.console.selectors.cases import comments_on
from apps.memories.models import Memory, MemoryLink
from apps.pipeline.core.enums import MemberRole


@require_POST
@project_page(MemberRole.REVIEWER)
def comment(request: HttpRequest, visit: ProjectVisit, memory_id: UUID) -> HttpResponse:
    """Add a comment, and return all comments on the memory, or on both memories of the pair in which it was written."""
    try:
        comment_on_memory(by=acting_person(visit), memory_id=memory_id, text=request.POST.get("text", ""))
    except Refused as refused:
        return refusal_response(request, refused)
    memory = get_object_or_404(Memory.objects.for_project(visit.project.pk), pk=memory_id)
    links = MemoryLink.objects.for_project(visit.project.pk).select_related("from_memory", "to_memory")
    named = identifier_of(request.POST.get("pair", ""))
    pair = links.filter(pk=named).first() if named else None
    of = (pair.from_memory, pair.to_memory) if pair else (memory,)
    shown = {"memory": memory, "pair": pair, "comments": comments_on(*of)}
    return render(request, "console/_comments.html", shown)
