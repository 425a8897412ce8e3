"""Contradictions and possible duplicates: two memories side by side, for a reviewer to resolve."""

from datetime import UTC, datetime
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.views.decorators.http import require_POST

from apps.actions.errors import Conflict, Refused, Unfit
from apps.actions.review import settle_link as settling
from apps.actions.review.settle_link import Settlement
from apps.console.labels import time_since
from apps.console.paging import opened_row, paginate
from apps.console.permissions import ProjectVisit, project_page
from apps.console.query_params import is_detail, is_part, query_param
from apps.console.review_forms import Toast, acting_person, parse_seen, refusal_response, row_id, toast_response
from apps.console.selectors.contradictions import count_by_kind, load_contradiction, open_pairs, settled_pairs
from apps.console.selectors.history import latest_changes
from apps.memories.models import MemoryLink
from apps.pipeline.core.enums import LinkKind, LinkResolution, MemberRole
from apps.pipeline.direct_write.review import Validity

_DONE = {
    LinkResolution.KEPT_FROM: "Kept A, rejected B.",
    LinkResolution.KEPT_TO: "Kept B, rejected A.",
    LinkResolution.CHANGED: "The newer one supersedes the older one.",
    LinkResolution.BOTH: "Kept both.",
    LinkResolution.MERGED: "Merged A into B.",
}


_DONE_BEFORE = {
    LinkResolution.KEPT_FROM: "kept A",
    LinkResolution.KEPT_TO: "kept B",
    LinkResolution.CHANGED: "dated the change",
    LinkResolution.BOTH: "kept both",
    LinkResolution.MERGED: "merged A into B",
}


@project_page()
def contradictions(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List open or settled pairs and show one of them."""
    words, name, settled = query_param(request, "q"), query_param(request, "kind"), "settled" in request.GET
    kind = LinkKind(name) if name in set(LinkKind) else None
    chosen = {"words": words, "kind": kind, "settled": settled, "counts": count_by_kind(project_id=visit.project.pk)}
    if is_part(request, "kinds"):
        return render(request, "console/_pair_tabs.html", chosen)
    listed = settled_pairs if settled else open_pairs
    found = paginate(listed(project_id=visit.project.pk, words=words, kind=kind), request)
    shown = chosen | {
        "page": found,
        "contradiction": load_contradiction(opened_row(found, request), now=timezone.now()) if found.rows else None,
    }
    return render(request, "console/contradictions.html", shown)


@project_page()
def contradiction(request: HttpRequest, visit: ProjectVisit, link_id: UUID) -> HttpResponse:
    """Show one pair: a part of the list, or a page of its own."""
    links = MemoryLink.objects.for_project(visit.project.pk).select_related("from_memory", "to_memory", "end_user")
    shown = load_contradiction(get_object_or_404(links, pk=link_id), now=timezone.now())
    template = "console/_contradiction.html" if is_detail(request) else "console/contradiction.html"
    return render(request, template, {"contradiction": shown})


@require_POST
@project_page(MemberRole.REVIEWER)
def settle(request: HttpRequest, visit: ProjectVisit, link_id: UUID) -> HttpResponse:
    """Resolve one pair."""
    row = row_id(link_id)
    try:
        settlement = _settlement(request, link_id)
        decided = settling.settle_link(by=acting_person(visit), settlement=settlement)
    except Conflict as conflict:
        return refusal_response(request, Conflict(_who_was_first(visit, link_id) or str(conflict)), gone=[row])
    except Unfit as unfit:
        return refusal_response(request, unfit)
    except Refused as refused:
        return refusal_response(request, refused, gone=[row])
    return toast_response(request, Toast(_DONE[settlement.resolution], decided), gone=[row])


def _who_was_first(visit: ProjectVisit, link_id: UUID) -> str:
    """Return who resolved a pair and when; empty if it is still open."""
    link = MemoryLink.objects.for_project(visit.project.pk).filter(pk=link_id).first()
    if link is None or link.settled_at is None:
        return ""
    sides = [link.from_memory_id, link.to_memory_id]
    changes = latest_changes(project_id=visit.project.pk, memory_ids=sides).values()
    actor = max(changes, key=lambda change: change.at).actor if changes else "somebody"
    return f"{actor} already {_DONE_BEFORE[LinkResolution(link.resolution)]} ({time_since(link.settled_at)})"


def _settlement(request: HttpRequest, link_id: UUID) -> Settlement:
    seen, resolution = parse_seen(request.POST.getlist("memory")), request.POST.get("resolution", "")
    if len(seen) != 2 or resolution not in set(LinkResolution):
        raise Unfit("choose which of the two to keep")
    ids = [each.memory_id for each in seen] if "dated" in request.POST else []
    validity = {id: Validity(begins=_day(request, f"from-{id}"), ends=_day(request, f"until-{id}")) for id in ids}
    return Settlement(
        link_id=link_id,
        resolution=LinkResolution(resolution),
        from_seen=seen[0],
        to_seen=seen[1],
        validity=validity,
        changed_on=_day(request, "changed-on"),
    )


def _day(request: HttpRequest, name: str) -> datetime | None:
    text = request.POST.get(name, "")
    try:
        day = parse_date(text) if text else None
    except ValueError as error:
        raise Unfit(f"{text!r} is not a date") from error
    if text and day is None:
        raise Unfit(f"{text!r} is not a date")
    return datetime(day.year, day.month, day.day, tzinfo=UTC) if day else None
