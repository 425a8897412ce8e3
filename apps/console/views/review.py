"""Review: what waits for a person, most harmful first, decided from the keyboard."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST

from apps.actions.errors import Refused, Unfit
from apps.actions.memories import approve as approving
from apps.actions.memories import merge_memories as merging
from apps.actions.memories import reject as rejecting
from apps.actions.review import undo as undoing
from apps.actions.review.review_decisions import ReviewDecision
from apps.console.deciding import Told, decided_in, person_of, refuse, row_id, seen_in, tell, told_of
from apps.console.paging import page_of
from apps.console.permissions import Visit, page
from apps.console.selectors import review as selectors
from apps.console.selectors.case import case_of
from apps.memories.models import Memory
from apps.pipeline.core.enums import MemberRole, MemoryType, RejectionReason


@page()
def review(request: HttpRequest, visit: Visit) -> HttpResponse:
    """List what waits, with the first one open."""
    filters = selectors.Filters.of(request.GET)
    found = page_of(selectors.queue(project_id=visit.project.pk, filters=filters), request)
    shown = {
        "page": found,
        "filters": filters,
        "counts": selectors.count_by_reason(project_id=visit.project.pk, filters=filters),
        "types": list(MemoryType),
        "case": case_of(found.rows[0]) if found.rows else None,
        "rejections": list(RejectionReason),
    }
    return render(request, "console/review.html", shown)


@page()
def memory(request: HttpRequest, visit: Visit, memory_id: UUID) -> HttpResponse:
    """Show one memory with all that a decision about it needs."""
    rows = Memory.objects.for_project(visit.project.pk).to_show()
    case = case_of(get_object_or_404(rows, pk=memory_id))
    is_part = bool(request.htmx)  # type: ignore[attr-defined]  # set by django_htmx's middleware
    template = "console/_case.html" if is_part else "console/memory.html"
    return render(request, template, {"case": case, "rejections": list(RejectionReason)})


@require_POST
@page(MemberRole.REVIEWER)
def approve(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Approve one or many; one may be given other words."""
    content = request.POST.get("content")
    try:
        if content is not None and not content.strip():
            raise Unfit("a memory needs words")
        seen = seen_in(request.POST.getlist("memory"))
        decided = approving.approve(by=person_of(visit), seen=seen, content=content)
    except Refused as refused:
        return refuse(request, refused)
    return _decided(request, visit, decided, "approved")


@require_POST
@page(MemberRole.REVIEWER)
def reject(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Reject one or many, for a reason."""
    try:
        reason = _reason(request.POST.get("reason", ""))
        seen = seen_in(request.POST.getlist("memory"))
        decided = rejecting.reject(by=person_of(visit), seen=seen, reason=reason)
    except Refused as refused:
        return refuse(request, refused)
    return _decided(request, visit, decided, "rejected")


@require_POST
@page(MemberRole.REVIEWER)
def merge(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Merge one into another that says the same."""
    try:
        (seen,), (into,) = seen_in(request.POST.getlist("memory")[:1]), seen_in(request.POST.getlist("into")[:1])
        decided = merging.merge_memories(by=person_of(visit), seen=seen, into=into)
    except ValueError:
        return refuse(request, Unfit("two memories are needed"))
    except Refused as refused:
        return refuse(request, refused)
    return tell(request, Told("Merged.", decided), gone=[row_id(each.memory_id) for each in decided.memories])


@require_POST
@page(MemberRole.REVIEWER)
def undo(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Take a decision back, and show the page anew where it was made."""
    try:
        undoing.undo(by=person_of(visit), decided=decided_in(request))
    except Refused as refused:
        return refuse(request, refused)
    answer = tell(request, Told("Undone."))
    answer["HX-Trigger"] = "undone"
    return answer


def _reason(text: str) -> RejectionReason:
    if text not in set(RejectionReason):
        raise Unfit("say why: the reason is one of the list")
    return RejectionReason(text)


def _decided(request: HttpRequest, visit: Visit, decided: ReviewDecision, verb: str) -> HttpResponse:
    done = len(decided.memories)
    said = [Told(f"{done} memories {verb}." if done > 1 else f"{verb.capitalize()}.", decided)] if done else []
    ids = [each.memory_id for each in decided.memories] + [each.memory_id for each in decided.refused]
    status = 200 if done else 409
    return tell(request, *said, *told_of(visit, decided.refused), gone=[row_id(each) for each in ids], status=status)
