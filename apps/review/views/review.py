"""The review queue: cases, decisions, comments, skipped cases and what one has decided."""

from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_POST
from django_htmx.http import trigger_client_event

from apps.common.errors import Refused, Unfit
from apps.console.paging import ListPage, identifier_of, is_detail, is_part, paginate, paginate_and_open
from apps.console.permissions import ProjectVisit, project_page
from apps.memories.models import Memory, MemoryLink
from apps.pipeline.core.enums import MemoryType, RejectionReason
from apps.review import services as deciding
from apps.review import skipping
from apps.review import undo as undoing
from apps.review.forms import (
    MOST_AT_ONCE,
    Toast,
    acting_person,
    chosen_memories,
    edited_content,
    edited_value,
    parse_seen,
    parse_undo,
    refusal_response,
    refusal_toasts,
    row_id,
    toast_response,
)
from apps.review.selectors import review as selectors
from apps.review.selectors.cases import comments_on, load_review_item
from apps.review.selectors.own_decisions import SHOWN_FOR, decided_today, load_decisions, own_decisions
from apps.review.selectors.review import ReviewGroup, absent_memory, closed_by, load_members
from apps.review.services import ReviewDecision, comment_on_memory
from apps.review.skipping import skipped_by
from apps.tenants.enums import MemberRole
from apps.traces.policies import active_policy


@require_POST
@project_page(MemberRole.REVIEWER)
def skip(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Skip the memories of a row, or a pair; with `back`, undo that."""
    given = [identifier_of(each) for text in request.POST.getlist("row") for each in text.split()]
    ids: list[UUID] = [each for each in given if each is not None]
    if not ids or len(ids) != len(given) or len(ids) > MOST_AT_ONCE:
        return refusal_response(request, Unfit("choose what to skip"))
    if "back" in request.POST:
        skipping.bring_back(request, ids)
        answer = toast_response(request, Toast("It is back in its place."))
        return trigger_client_event(answer, "undone", {"opens": str(ids[0])})
    skipping.skip(request, ids)
    answer = toast_response(request, Toast("Skipped: it waits at the end of your queue.", skipped=tuple(ids)))
    answer["X-Skipped-Rows"] = " ".join(row_id(each) for each in ids)
    return answer


@project_page(MemberRole.REVIEWER)
def decisions(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List the visitor's own decisions, latest first."""
    by = acting_person(visit)
    found = paginate(own_decisions(by=by, now=timezone.now()), request)
    page = replace(found, rows=load_decisions(found.rows, by=by))
    return render(request, "console/decisions.html", {"page": page, "days": SHOWN_FOR.days})


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


@project_page()
def review(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List pending memories and show the one that is named, else the first one."""
    filters = selectors.ReviewFilters.of(request)
    tabs = {
        "filters": filters,
        "counts": selectors.count_by_reason(project_id=visit.project.pk, filters=filters),
        "decided": decided_today(by=acting_person(visit), now=timezone.now()),
        "total": selectors.count_pending(project_id=visit.project.pk),
    }
    if is_part(request, "reasons"):
        return render(request, "console/_reason_tabs.html", tabs)
    queue = selectors.review_queue(project_id=visit.project.pk, filters=filters, skipped=skipped_by(request))
    load = partial(selectors.load_groups, project_id=visit.project.pk, filters=filters)
    found, row = paginate_and_open(queue, request, load=load)
    shown = tabs | {"page": found, "types": list(MemoryType), "shown_at": timezone.now()}
    return render(request, "console/review.html", shown | _case_of(request, visit, found, row))


def _case_of(request: HttpRequest, visit: ProjectVisit, found: ListPage, row: ReviewGroup | None) -> dict[str, Any]:
    """Return what is shown beside the list: the row to open, or what became of a memory that is not listed."""
    named, absent = identifier_of(request.GET.get("open", "")), None
    if row is None and named is None and found.rows:
        row = found.rows[0]
    elif row is None and named is not None:
        absent = absent_memory(project_id=visit.project.pk, memory_id=named)
        row = found.rows[0] if found.rows and absent.memory is None else None
    memory = row.leader if row else absent.memory if absent else None
    return {"absent": absent, "open_row": row} | (_case(memory, row) if memory else {"item": None})


def _case(memory: Memory, group: ReviewGroup | None) -> dict[str, Any]:
    now, is_group = timezone.now(), group is not None and len(group.members) > 1
    policy = active_policy(project_id=memory.project_id)
    return {
        "item": load_review_item(memory, policy=policy, now=now, is_group=is_group),
        "group": group if is_group else None,
        "members": load_members(group, policy=policy, now=now) if group and is_group else (),
        "rejections": list(RejectionReason),
        "seen": group.seen if group else f"{memory.pk}:{memory.version}",
    }


@project_page()
def memory(request: HttpRequest, visit: ProjectVisit, memory_id: UUID) -> HttpResponse:
    """Show one memory with everything that a decision needs; beside the list, with its group."""
    found = get_object_or_404(Memory.objects.for_project(visit.project.pk).to_show(), pk=memory_id)
    if not is_detail(request):
        return render(request, "console/memory.html", _case(found, None))
    group = selectors.group_of(found, filters=selectors.ReviewFilters.of(request))
    return render(request, "console/_review_item.html", _case(found, group) | {"is_listed": True})


@require_POST
@project_page(MemberRole.REVIEWER)
def approve(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Approve one or several memories; a single one may be reworded, and may replace others."""
    try:
        content, value = edited_content(request), edited_value(request)
        seen = chosen_memories(request)
        replaces = parse_seen(request.POST.getlist("replaces"))
        decided = deciding.approve(
            by=acting_person(visit),
            seen=seen,
            content=content,
            value=value,
            replaces=replaces,
            is_confirmed="is_confirmed" in request.POST,
            as_uncertain="as_uncertain" in request.POST,
        )
    except Refused as refused:
        return refusal_response(request, refused)
    ids = [each.memory_id for each in decided.memories]
    closed = closed_by(project_id=visit.project.pk, memory_ids=ids)
    return _decision_response(request, visit, decided, "approved", more=f" Replaced: {closed}." if closed else "")


@require_POST
@project_page(MemberRole.REVIEWER)
def preview_approval(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show what approving several memories does, before it is done."""
    try:
        seen = chosen_memories(request)
    except Refused as refused:
        return refusal_response(request, refused)
    preview = selectors.preview_approval(project_id=visit.project.pk, memory_ids=[each.memory_id for each in seen])
    return render(request, "console/_approval_preview.html", {"preview": preview})


@require_POST
@project_page(MemberRole.REVIEWER)
def reject(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Reject one or several memories with a reason."""
    reason = request.POST.get("reason", "")
    try:
        if reason not in set(RejectionReason):
            raise Unfit("choose a reason from the list")
        seen = chosen_memories(request)
        decided = deciding.reject(by=acting_person(visit), seen=seen, reason=RejectionReason(reason))
    except Refused as refused:
        return refusal_response(request, refused)
    return _decision_response(request, visit, decided, "rejected")


@require_POST
@project_page(MemberRole.REVIEWER)
def merge(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Merge a memory into another one that says the same."""
    try:
        (seen,), (into,) = parse_seen(request.POST.getlist("memory")[:1]), parse_seen(request.POST.getlist("into")[:1])
        decided = deciding.merge_memories(by=acting_person(visit), seen=seen, into=into)
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
    gone, status = [row_id(each) for each in ids], 200 if done else 409
    answer = toast_response(request, *toasts, *refusal_toasts(visit, decided.refused), gone=gone, status=status)
    if "grouped" in request.POST and selectors.is_more_of(project_id=visit.project.pk, memory_ids=ids):
        trigger_client_event(answer, "queue-changed", after="swap")
    return answer
