"""What reviewers tell each other: who looks at a memory or pair, who is to decide, and comments."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST
from django_htmx.http import trigger_client_event

from apps.actions.errors import Refused, Unfit
from apps.actions.review.assign_memories import assign_memories
from apps.actions.review.comment_on_memory import comment_on_memory
from apps.actions.review.note_presence import note_presence
from apps.console.paging import whole_number
from apps.console.permissions import ProjectVisit, project_page
from apps.console.query_params import identifier_of
from apps.console.review_forms import Toast, acting_person, chosen_memories, refusal_response, toast_response
from apps.console.selectors.people import names_of
from apps.console.selectors.teamwork import comments_on, presence_text
from apps.memories.models import Memory, MemoryLink
from apps.pipeline.core.enums import MemberRole


@require_POST
@project_page(MemberRole.REVIEWER)
def presence(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Take the heartbeat of an open case, and return who else has it open."""
    opened = identifier_of(request.POST.get("open", ""))
    if opened is None:
        return HttpResponse(status=422)
    others = note_presence(project_id=visit.project.pk, person_id=visit.person_id, object_id=opened)
    return render(request, "console/_presence.html", {"presence": presence_text(others)})


@require_POST
@project_page(MemberRole.REVIEWER)
def assign(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Assign memories to a member, or to nobody."""
    name = request.POST.get("to", "")
    try:
        to = whole_number(name)
        if name and to is None:
            raise Unfit("choose a member")
        ids = [each.memory_id for each in chosen_memories(request)]
        assign_memories(by=acting_person(visit), memory_ids=ids, to=to)
    except Refused as refused:
        return refusal_response(request, refused)
    actor = f"person:{to}"
    told = "Assigned to nobody." if to is None else f"Assigned to {names_of([actor])[actor]}."
    return trigger_client_event(toast_response(request, Toast(told)), "queue-changed", after="swap")


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
