"""Review: pending memories, riskiest first, with keyboard shortcuts."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_POST
from django_htmx.http import trigger_client_event

from apps.actions.errors import Refused, Unfit
from apps.actions.review import approve as approving
from apps.actions.review import merge_memories as merging
from apps.actions.review import reject as rejecting
from apps.actions.review import undo as undoing
from apps.actions.review.review_decisions import ReviewDecision
from apps.console.paging import opened_row, paginate
from apps.console.permissions import ProjectVisit, project_page
from apps.console.query_params import is_detail, is_part
from apps.console.review_forms import (
    Toast,
    acting_person,
    edited_content,
    edited_value,
    parse_seen,
    parse_undo,
    refusal_response,
    refusal_toasts,
    row_id,
    toast_response,
)
from apps.console.selectors import review as selectors
from apps.console.selectors.closed_by import closed_by
from apps.console.selectors.review_item import load_review_item
from apps.memories.models import Memory
from apps.pipeline.core.enums import MemberRole, MemoryType, RejectionReason


@project_page()
def review(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List pending memories and show the first one."""
    filters = selectors.ReviewFilters.of(request)
    counts = selectors.count_by_reason(project_id=visit.project.pk, filters=filters)
    if is_part(request, "reasons"):
        return render(request, "console/_reason_tabs.html", {"filters": filters, "counts": counts})
    found = paginate(selectors.review_queue(project_id=visit.project.pk, filters=filters), request)
    shown = {
        "page": found,
        "filters": filters,
        "counts": counts,
        "types": list(MemoryType),
        "item": load_review_item(opened_row(found, request), now=timezone.now()) if found.rows else None,
        "rejections": list(RejectionReason),
        "shown_at": timezone.now(),
    }
    return render(request, "console/review.html", shown)


@project_page()
def memory(request: HttpRequest, visit: ProjectVisit, memory_id: UUID) -> HttpResponse:
    """Show one memory with everything that a decision needs."""
    rows = Memory.objects.for_project(visit.project.pk).to_show()
    item = load_review_item(get_object_or_404(rows, pk=memory_id), now=timezone.now())
    template = "console/_review_item.html" if is_detail(request) else "console/memory.html"
    return render(request, template, {"item": item, "rejections": list(RejectionReason)})


@require_POST
@project_page(MemberRole.REVIEWER)
def approve(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Approve one or several memories; a single one may be reworded, and may replace others."""
    try:
        content, value = edited_content(request), edited_value(request)
        seen = parse_seen(request.POST.getlist("memory"))
        replaces = parse_seen(request.POST.getlist("replaces"))
        decided = approving.approve(by=acting_person(visit), seen=seen, content=content, value=value, replaces=replaces)
    except Refused as refused:
        return refusal_response(request, refused)
    ids = [each.memory_id for each in decided.memories]
    closed = closed_by(project_id=visit.project.pk, memory_ids=ids)
    return _decision_response(request, visit, decided, "approved", more=f" Replaced: {closed}." if closed else "")


@require_POST
@project_page(MemberRole.REVIEWER)
def reject(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Reject one or several memories with a reason."""
    reason = request.POST.get("reason", "")
    try:
        if reason not in set(RejectionReason):
            raise Unfit("choose a reason from the list")
        seen = parse_seen(request.POST.getlist("memory"))
        decided = rejecting.reject(by=acting_person(visit), seen=seen, reason=RejectionReason(reason))
    except Refused as refused:
        return refusal_response(request, refused)
    return _decision_response(request, visit, decided, "rejected")


@require_POST
@project_page(MemberRole.REVIEWER)
def merge(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Merge a memory into another one that says the same."""
    try:
        (seen,), (into,) = parse_seen(request.POST.getlist("memory")[:1]), parse_seen(request.POST.getlist("into")[:1])
        decided = merging.merge_memories(by=acting_person(visit), seen=seen, into=into)
    except ValueError:
        return refusal_response(request, Unfit("choose two memories to merge"))
    except Refused as refused:
        return refusal_response(request, refused)
    return toast_response(
        request, Toast("Merged.", decided), gone=[row_id(each.memory_id) for each in decided.memories]
    )


@require_POST
@project_page(MemberRole.REVIEWER)
def undo(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Undo a decision and refresh the page."""
    try:
        decided = parse_undo(request)
        undoing.undo(by=acting_person(visit), decided=decided)
    except Refused as refused:
        return refusal_response(request, refused)
    opens = decided.link_id or next((each.memory_id for each in decided.memories), "")
    return trigger_client_event(toast_response(request, Toast("Undone.")), "undone", {"opens": str(opens)})


def _decision_response(
    request: HttpRequest, visit: ProjectVisit, decided: ReviewDecision, verb: str, *, more: str = ""
) -> HttpResponse:
    done = len(decided.memories)
    text = f"{done} memories {verb}." if done > 1 else f"{verb.capitalize()}."
    toasts = [Toast(f"{text}{more}", decided)] if done else []
    ids = [each.memory_id for each in decided.memories] + [each.memory_id for each in decided.refused]
    status = 200 if done else 409
    return toast_response(
        request, *toasts, *refusal_toasts(visit, decided.refused), gone=[row_id(each) for each in ids], status=status
    )
